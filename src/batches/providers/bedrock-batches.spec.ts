import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { type JsonObject, readArray, readObject, readString } from '../../common/json/read.js';
import { runner } from '../../gateway/relay/__fixtures__/run-mapped.js';
import { FakeBedrock } from '../../upstream/providers/bedrock/__fixtures__/fake-bedrock.js';
import { toJobId } from '../../upstream/providers/bedrock/jobs.js';
import { toFileId } from '../../upstream/providers/bedrock/s3-file.js';
import { INVOCATION_JOB, toBatch } from './bedrock-batch.js';
import { createBedrockBatches } from './bedrock-batches.js';

const JOB = readObject(
  JSON.parse(readFileSync(new URL('__fixtures__/bedrock-batch.json', import.meta.url), 'utf8')),
  'fixture',
);
const ARN = readString(JOB['jobArn'], 'jobArn');
const ID = toJobId(INVOCATION_JOB, ARN);
const BODY: JsonObject = {
  input_file_id: 's3://bucket/in/records.jsonl',
  model: 'amazon.nova-micro-v1:0',
  role_arn: 'arn:aws:iam::123456789012:role/batches',
};
const provider = createBedrockBatches(() => 'unique-1');

function setUp(options: Partial<ConstructorParameters<typeof FakeBedrock>[0]> = {}) {
  const bedrock = new FakeBedrock({ ...INVOCATION_JOB, jobs: [JOB], newArn: ARN, ...options });
  return { bedrock, run: runner(provider, bedrock) };
}

const jobNumber = (number: number): JsonObject => ({
  ...JOB,
  jobArn: `arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/${String(number).padStart(12, '0')}`,
});
const refusal = (code: string, param: string) => expect.objectContaining({ code, param });
const params = (id: string) => ({ params: { batch_id: id } });

describe('batches of bedrock', () => {
  it('has every field of a batch, times in seconds, and null for values that AWS leaves out', () => {
    expect(toBatch(JOB)).toEqual({
      id: ID,
      object: 'batch',
      endpoint: '/model/anthropic.claude-3-haiku-20240307-v1%3A0/invoke',
      model: 'anthropic.claude-3-haiku-20240307-v1:0',
      errors: null,
      input_file_id: toFileId('s3://amzn-s3-demo-bucket/input/abc.jsonl'),
      completion_window: '72h',
      status: 'completed',
      output_file_id: toFileId('s3://amzn-s3-demo-bucket/output/'),
      error_file_id: null,
      created_at: Date.UTC(2026, 10, 20, 10, 15, 30) / 1_000,
      in_progress_at: null,
      expires_at: Date.UTC(2026, 10, 23, 10, 15, 30) / 1_000,
      finalizing_at: null,
      completed_at: Date.UTC(2026, 10, 20, 12, 0, 0) / 1_000,
      failed_at: null,
      expired_at: null,
      cancelling_at: null,
      cancelled_at: null,
      request_counts: { total: 500, completed: 440, failed: 10 },
      metadata: null,
      tollgate: { provider_status: 'PartiallyCompleted' },
    });
  });

  it('has an id that fits into a path', () => {
    expect(ID).toMatch(/^batch_[A-Za-z0-9_-]+$/);
  });

  it.each([
    ['Submitted', 'validating', undefined],
    ['Validating', 'validating', undefined],
    ['Scheduled', 'in_progress', undefined],
    ['InProgress', 'in_progress', undefined],
    ['Completed', 'completed', 'completed_at'],
    ['PartiallyCompleted', 'completed', 'completed_at'],
    ['Failed', 'failed', 'failed_at'],
    ['Stopping', 'cancelling', undefined],
    ['Stopped', 'cancelled', 'cancelled_at'],
    ['Expired', 'expired', 'expired_at'],
    ['SomethingNew', 'in_progress', undefined],
    [undefined, 'validating', undefined],
  ])('maps the job status %s to %s and sets %s', (awsStatus, status, endField) => {
    const batch = toBatch({ ...JOB, status: awsStatus });
    const ends = ['completed_at', 'failed_at', 'expired_at', 'cancelled_at'].filter((name) => batch[name] !== null);
    expect(batch.status).toBe(status);
    expect(ends).toEqual(endField === undefined ? [] : [endField]);
    expect(batch['tollgate']).toEqual({ provider_status: awsStatus ?? null });
  });

  it('names its output only when the batch is complete', () => {
    expect(toBatch({ ...JOB, status: 'InProgress' })['output_file_id']).toBeNull();
  });

  it.each([
    ['Failed', { object: 'list', data: [{ code: null, message: 'No access', param: null, line: null }] }],
    ['InProgress', null],
  ])('maps the message of a job with status %s to the errors %j', (status, errors) => {
    expect(toBatch({ ...JOB, status, message: 'No access' })['errors']).toEqual(errors);
  });

  it('has null for fields that a response leaves out', () => {
    const { jobArn } = JOB;
    const told = Object.entries(toBatch({ jobArn })).filter(([, value]) => value !== null);
    expect(Object.fromEntries(told)).toEqual({
      id: ID,
      object: 'batch',
      status: 'validating',
      tollgate: { provider_status: null },
    });
  });
});

describe('batches.list at bedrock', () => {
  const jobs = Array.from({ length: 250 }, (_, index) => jobNumber(250 - index));
  const expected = jobs.map(({ jobArn }) => toJobId(INVOCATION_JOB, readString(jobArn, 'jobArn')));

  it('lists jobs through the control plane, newest first', async () => {
    const { bedrock, run } = setUp();
    await run('batches.list', { query: { limit: '5' } });
    expect(bedrock.asked).toEqual([
      {
        method: 'GET',
        path: '/model-invocation-jobs',
        query: { maxResults: '6', sortBy: 'CreationTime', sortOrder: 'Descending' },
        plane: 'control',
      },
    ]);
  });

  it('returns the requested number of items per page', async () => {
    const list = await setUp({ jobs }).run('batches.list', { query: { limit: '20' } });
    expect(list).toMatchObject({ object: 'list', has_more: true, first_id: expected[0], last_id: expected[19] });
    expect(list['data']).toHaveLength(20);
  });

  it('returns an empty list without jobs', async () => {
    const empty = { object: 'list', data: [], first_id: null, last_id: null, has_more: false };
    expect(await setUp({ jobs: [] }).run('batches.list')).toEqual(empty);
  });

  it('lists 250 jobs once each, in order, for any page size', () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), async (limit) => {
        const { run } = setUp({ jobs, pageSize: 37 });
        const seen: string[] = [];
        let after: string | undefined;
        for (let more = true; more; after = seen.at(-1)) {
          const query = { limit: String(limit), ...(after === undefined ? {} : { after }) };
          const page = await run('batches.list', { query });
          const ids = readArray(page['data'], 'data').map((item) => readString(readObject(item, 'item')['id'], 'id'));
          seen.push(...ids);
          more = page['has_more'] === true;
          expect(ids.length).toBe(more ? limit : ((250 - 1) % limit) + 1);
          expect([page['first_id'], page['last_id']]).toEqual([ids[0], ids.at(-1)]);
        }
        expect(seen).toEqual(expected);
      }),
      // AWS's pages hold 37 jobs here: cursors around them, at the ends, and after a full last page.
      { numRuns: 25, examples: [1, 2, 25, 36, 37, 38, 50, 73, 74, 75, 99, 100].map((limit) => [limit]) },
    ));

  it('continues after the same job when jobs were added meanwhile', async () => {
    const { run } = setUp({ jobs: [jobNumber(252), jobNumber(251), ...jobs] });
    const page = await run('batches.list', { query: { limit: '1', after: expected[4] ?? '' } });
    expect(page['first_id']).toBe(expected[5]);
  });

  it.each([
    ['a job that is not listed', toJobId(INVOCATION_JOB, String(jobNumber(999)['jobArn']))],
    ['an id of another make', 'batch_abc123'],
    ['a job of another region', toJobId(INVOCATION_JOB, ARN.replace('us-east-1', 'eu-west-1'))],
  ])('refuses to list after %s', async (_name, after) => {
    const list = setUp({ jobs }).run('batches.list', { query: { after } }, { aws_region: 'us-east-1' });
    await expect(list).rejects.toEqual(refusal('validation_failed', 'after'));
  });

  it('stops after 50 pages', async () => {
    const { bedrock, run } = setUp({ jobs, pageSize: 1 });
    const list = run('batches.list', { query: { after: expected[60] ?? '' } });
    await expect(list).rejects.toEqual(refusal('validation_failed', 'after'));
    expect(bedrock.asked).toHaveLength(50);
  });
});

describe('batches.retrieve at bedrock', () => {
  it('reads the job by its ARN in its region', async () => {
    const { bedrock, run } = setUp();
    expect(await run('batches.retrieve', params(ID))).toEqual(toBatch(JOB));
    expect(bedrock.asked).toEqual([
      {
        method: 'GET',
        path: '/model-invocation-job/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Amodel-invocation-job%2Fabcd1234efgh',
        region: 'us-east-1',
        plane: 'control',
      },
    ]);
  });

  it.each([
    'batch_abc',
    'batch_',
    '',
    ARN,
    ID.replace('batch_', 'ftjob-'),
    `${ID}=`,
    `${ID}..%2f`,
    `${ID}%00`,
    `${ID}?x=1`,
    `${ID}#x`,
    ...[
      `${ARN}/../../foundation-models`,
      `${ARN}..%2f`,
      `${ARN}%00`,
      `${ARN}\0`,
      `${ARN}?x=1`,
      `${ARN}#x`,
      ` ${ARN}`,
    ].map((arn) => toJobId(INVOCATION_JOB, arn)),
    toJobId(INVOCATION_JOB, ARN.replace('model-invocation-job', 'model-customization-job')),
    toJobId(INVOCATION_JOB, ARN.replace('us-east-1', 'evil.example')),
    toJobId(INVOCATION_JOB, `${ARN}${'a'.repeat(400)}`),
  ])('returns not_found for the id %j without a call to AWS', async (id) => {
    const { bedrock, run } = setUp();
    for (const operation of ['batches.retrieve', 'batches.cancel']) {
      await expect(run(operation, params(id))).rejects.toEqual(refusal('not_found', 'batch_id'));
    }
    expect(bedrock.asked).toEqual([]);
  });

  it('returns not_found for jobs outside the region of the virtual key', async () => {
    const retrieved = setUp().run('batches.retrieve', params(ID), { aws_region: 'eu-west-1' });
    await expect(retrieved).rejects.toEqual(refusal('not_found', 'batch_id'));
  });
});

describe('batches.create at bedrock', () => {
  it('creates the job and returns the whole batch', async () => {
    const { bedrock, run } = setUp();
    expect(await run('batches.create', { body: BODY })).toEqual(toBatch(JOB));
    expect(bedrock.asked[0]).toEqual({
      method: 'POST',
      path: '/model-invocation-job',
      region: undefined,
      plane: 'control',
      body: {
        jobName: 'batch-unique-1',
        clientRequestToken: 'unique-1',
        modelId: 'amazon.nova-micro-v1:0',
        roleArn: 'arn:aws:iam::123456789012:role/batches',
        inputDataConfig: { s3InputDataConfig: { s3InputFormat: 'JSONL', s3Uri: 's3://bucket/in/records.jsonl' } },
        outputDataConfig: { s3OutputDataConfig: { s3Uri: 's3://bucket/in/' } },
      },
    });
  });

  it('accepts the options of Bedrock, and sends no field that has no meaning there', async () => {
    const { bedrock, run } = setUp();
    const model = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-micro-v1:0';
    const input_file_id = toFileId('s3://bucket/in.jsonl');
    const more = {
      job_name: 'mine',
      output_s3_uri: 's3://bucket/out/',
      completion_window: '48h',
      metadata: { a: 'b' },
    };
    const body = { ...BODY, ...more, model, input_file_id, endpoint: '/v1/chat/completions' };
    await run('batches.create', { body });
    expect(bedrock.asked[0]).toMatchObject({
      region: 'us-east-1',
      body: {
        jobName: 'mine',
        modelId: model,
        inputDataConfig: { s3InputDataConfig: { s3Uri: 's3://bucket/in.jsonl' } },
        outputDataConfig: { s3OutputDataConfig: { s3Uri: 's3://bucket/out/' } },
        timeoutDurationInHours: 48,
      },
    });
  });

  it.each([
    ['without input_file_id', { input_file_id: undefined }, 'input_file_id'],
    ['without model', { model: null }, 'model'],
    ['without role_arn', { role_arn: undefined }, 'role_arn'],
    ['with a file id of another provider', { input_file_id: 'file-abc123' }, 'input_file_id'],
    ['with an address that is not S3', { input_file_id: 'https://bucket/x.jsonl' }, 'input_file_id'],
    ['with a model that is not a string', { model: 7 }, 'model'],
    ['with a role that is not an ARN', { role_arn: 'admin' }, 'role_arn'],
    ['with a folder as input and no output', { input_file_id: 's3://bucket/in/' }, 'output_s3_uri'],
    ['with a bucket as input and no output', { input_file_id: 's3://bucket' }, 'output_s3_uri'],
    ['with an output that is not S3', { output_s3_uri: 'file:///tmp' }, 'output_s3_uri'],
    ['with a job name of other characters', { job_name: 'a b' }, 'job_name'],
    ['with too short a window', { completion_window: '1h' }, 'completion_window'],
    ['with a window in a list', { completion_window: ['24h'] }, 'completion_window'],
    ['with a window that has no string form', { completion_window: { toString: 1 } }, 'completion_window'],
    ['with an output in a list', { output_s3_uri: ['s3://bucket/out/'] }, 'output_s3_uri'],
    ['with an output that has no string form', { output_s3_uri: { toString: 1 } }, 'output_s3_uri'],
    ['with an unknown field', { roleArn: 'x' }, 'roleArn'],
  ])('refuses a batch %s', async (_name, change, param) => {
    const { bedrock, run } = setUp();
    const created = run('batches.create', { body: { ...BODY, ...change } });
    await expect(created).rejects.toEqual(refusal('validation_failed', param));
    expect(bedrock.asked).toEqual([]);
  });

  it('lists every broken rule of a batch', async () => {
    const created = setUp().run('batches.create', { body: {} });
    const details = ['input_file_id', 'model', 'role_arn'].map((param) => expect.objectContaining({ param }));
    await expect(created).rejects.toEqual(expect.objectContaining({ details }));
  });

  it('returns the request and the id when the new job cannot be read yet', async () => {
    const batch = await setUp({ jobs: [] }).run('batches.create', { body: BODY });
    expect(batch).toMatchObject({
      id: ID,
      status: 'validating',
      model: 'amazon.nova-micro-v1:0',
      input_file_id: toFileId('s3://bucket/in/records.jsonl'),
      created_at: null,
    });
  });
});

describe('batches.cancel at bedrock', () => {
  it.each([
    ['InProgress', 'cancelling'],
    ['Submitted', 'cancelling'],
    ['Stopping', 'cancelling'],
    ['Stopped', 'cancelled'],
    ['Completed', 'completed'],
  ])('stops a job, whose status is then %s, and returns %s', async (awsStatus, status) => {
    const { bedrock, run } = setUp({ jobs: [{ ...JOB, status: awsStatus }] });
    expect(await run('batches.cancel', params(ID))).toMatchObject({ id: ID, status });
    expect(bedrock.asked.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`)).toEqual([
      `POST /model-invocation-job/${ARN}/stop`,
      `GET /model-invocation-job/${ARN}`,
    ]);
  });

  const stop = `POST /model-invocation-job/${ARN}/stop`;

  it.each([
    ['refusal', { code: 'provider_rejected', status: 409 }],
    ['failure', { code: 'provider_failed', status: 502 }],
    ['response that cannot be read', { code: 'provider_invalid_response', status: 502 }],
  ] as const)('reports a %s of the stop, since the job may still run', async (_name, { code, status }) => {
    const failures = { [stop]: new GatewayError(code, { status }) };
    const cancelled = setUp({ failures }).run('batches.cancel', params(ID));
    await expect(cancelled).rejects.toEqual(expect.objectContaining({ code, status }));
  });
});
