import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type OpenAI from 'openai';
import { INVOCATION_JOB } from '../src/batches/providers/bedrock-batch.js';
import { type JsonObject, readArray, readObject, readString } from '../src/common/json/read.js';
import { CUSTOMIZATION_JOB } from '../src/fine-tuning/providers/bedrock-fine-tuning-job.js';
import { toJobId } from '../src/upstream/providers/bedrock/jobs.js';
import { FakeBedrock } from '../src/upstream/providers/bedrock/__fixtures__/fake-bedrock.js';
import { bedrockReply, sentTo } from './support/fake-aws.js';
import { eventually } from './support/eventually.js';
import { half, type ProviderCall, type Reply, text } from './support/fake-provider.js';
import { type Ask, openaiClient, plainly } from './support/openai-client.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';

const ROLE = 'arn:aws:iam::123456789012:role/worker';
const SUBMITTED = Date.UTC(2026, 10, 20, 10, 15, 30) / 1_000;
const BATCH = fixture('batches/providers/__fixtures__/bedrock-batch');
const TUNING = fixture('fine-tuning/providers/__fixtures__/bedrock-fine-tuning-job');
const BATCH_ARN = readString(BATCH['jobArn'], 'jobArn');
// The virtual keys of these tests belong to the region of the batch.
const TUNING_ARN = readString(TUNING['jobArn'], 'jobArn').replace('us-west-2', 'us-east-1');

let gateway: RerankGateway;
let client: OpenAI;
let ask: Ask;

beforeAll(async () => {
  gateway = await startRerankGateway();
  const slug = await gateway.virtualKey('bedrock');
  client = openaiClient(gateway, slug);
  ask = plainly(gateway, slug);
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

function fixture(name: string): JsonObject {
  return readObject(JSON.parse(readFileSync(new URL(`../src/${name}.json`, import.meta.url), 'utf8')), name);
}

/** Newest first, each with an ARN of its own, as AWS lists them. */
function jobs(count: number, job: JsonObject, arn: string): readonly JsonObject[] {
  return Array.from({ length: count }, (_, index) => ({
    ...job,
    jobArn: arn.replace(/[a-z0-9]+$/, String(count - index).padStart(12, '0')),
  }));
}

type Account = Partial<ConstructorParameters<typeof FakeBedrock>[0]>;

const withBatches = (account: Account = {}): void => {
  const bedrock = new FakeBedrock({ ...INVOCATION_JOB, jobs: [BATCH], newArn: BATCH_ARN, ...account });
  gateway.provider.replyWith(bedrockReply(bedrock));
};
const withTuning = (account: Account = {}): void => {
  const jobs = [{ ...TUNING, jobArn: TUNING_ARN }];
  gateway.provider.replyWith(
    bedrockReply(new FakeBedrock({ ...CUSTOMIZATION_JOB, jobs, newArn: TUNING_ARN, ...account })),
  );
};

async function idsOf(list: AsyncIterable<{ readonly id: string }>): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const item of list) ids.push(item.id);
  return ids;
}

const arnIn = (id: string): string => Buffer.from(id.replace(/^(batch_|ftjob-)/, ''), 'base64url').toString();

describe('the jobs of an AWS account through the official SDK', () => {
  it.each([
    [1, 1_000],
    [7, 10],
    [20, 1_000],
    [99, 100],
    [100, 33],
  ])('lists each Bedrock job once and in order as a batch: pages of %i over pages of %i', async (limit, pageSize) => {
    const all = jobs(limit === 1 ? 40 : 250, BATCH, BATCH_ARN);
    withBatches({ jobs: all, pageSize });
    const ids = await idsOf(client.batches.list({ limit }));
    expect(ids.map(arnIn)).toEqual(all.map((job) => job['jobArn']));
  });

  it('lists each Bedrock job once and in order as a fine-tuning job', async () => {
    const all = jobs(250, TUNING, TUNING_ARN);
    withTuning({ jobs: all, pageSize: 100 });
    const ids = await idsOf(client.fineTuning.jobs.list({ limit: 100 }));
    expect(ids.map(arnIn)).toEqual(all.map((job) => job['jobArn']));
  });

  it('encodes job ids for URLs and finds the jobs by these ids', async () => {
    withBatches();
    const [id = ''] = await idsOf(client.batches.list());
    expect(id).toMatch(/^batch_[A-Za-z0-9_-]+$/);
    expect(await client.batches.retrieve(id)).toMatchObject({ id, object: 'batch' });
    withTuning();
    const [job = ''] = await idsOf(client.fineTuning.jobs.list());
    expect(job).toMatch(/^ftjob-[A-Za-z0-9_-]+$/);
    expect(await client.fineTuning.jobs.retrieve(job)).toMatchObject({ id: job, object: 'fine_tuning.job' });
  });

  it('maps times to seconds and every AWS status to a documented status', async () => {
    withBatches({
      jobs: ['Submitted', 'InProgress', 'Completed', 'Stopping', 'Stopped', 'Failed', 'Expired', 'New'].map(
        (status) => ({ ...BATCH, status }),
      ),
    });
    const { data } = await client.batches.list({ limit: 100 });
    expect(data.map((batch) => batch.status)).toEqual([
      'validating',
      'in_progress',
      'completed',
      'cancelling',
      'cancelled',
      'failed',
      'expired',
      'in_progress',
    ]);
    expect(new Set(data.map((batch) => batch.created_at))).toEqual(new Set([SUBMITTED]));
    withTuning();
    const [job] = (await client.fineTuning.jobs.list()).data;
    expect(job).toMatchObject({ status: 'succeeded', created_at: SUBMITTED, trained_tokens: null, seed: null });
  });

  it('returns an empty list when the account has no jobs', async () => {
    withBatches({ jobs: [] });
    const answer = await ask('GET', '/batches');
    expect(jsonOf(answer)).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
  });

  it.each(['batch_unknown', 'batch_%2F', 'x'])('refuses a cursor that is not the id of a batch: %s', async (after) => {
    withBatches();
    const refusal = refusalOf(await ask('GET', `/batches?after=${after}`));
    expect(refusal).toEqual({ status: 400, code: 'validation_failed', param: 'after', source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('a batch at Bedrock', () => {
  const body = { input_file_id: 's3://bucket/in/records.jsonl', model: 'amazon.nova-micro-v1:0', role_arn: ROLE };

  it('creates a Bedrock batch and returns its current state', async () => {
    withBatches({ jobs: [{ ...BATCH, status: 'Submitted' }] });
    const answer = await ask('POST', '/batches', { body });
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toMatchObject({ object: 'batch', status: 'validating', created_at: SUBMITTED });
    expect(sentTo(gateway.provider.calls[0])).toMatchObject({
      modelId: body.model,
      roleArn: ROLE,
      inputDataConfig: { s3InputDataConfig: { s3Uri: body.input_file_id } },
      outputDataConfig: { s3OutputDataConfig: { s3Uri: 's3://bucket/in/' } },
    });
  });

  it('leaves out and names the fields of a batch that Bedrock does not have', async () => {
    withBatches();
    const openai = { ...body, endpoint: '/v1/chat/completions', metadata: { team: 'a' } };
    const answer = await ask('POST', '/batches', { body: openai });
    expect(answer.headers['x-gateway-warnings']).toBe(
      'unsupported_parameter; param=endpoint; provider=bedrock, unsupported_parameter; param=metadata; provider=bedrock',
    );
    expect(answer.status).toBe(200);
    expect(JSON.stringify(sentTo(gateway.provider.calls[0]))).not.toMatch(/metadata|completions/);
    const plain = await ask('POST', '/batches', { body: { ...body, metadata: null } });
    expect(plain.headers).not.toHaveProperty('x-gateway-warnings');
    gateway.provider.forget();
    const strictly = await ask('POST', '/batches', { body: openai, headers: { 'x-gateway-strict': 'true' } });
    expect(refusalOf(strictly)).toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'endpoint' });
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it('lists what Bedrock offers where it has no such operation', async () => {
    const answer = await ask('POST', '/fine_tuning/jobs/ftjob-1/pause', { body: {} });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'provider_not_supported' });
    expect(answer.text).toContain('fine_tuning.jobs.cancel');
  });

  it('reports a cancelled batch as cancelling while AWS still runs it', async () => {
    withBatches({ jobs: [{ ...BATCH, status: 'InProgress' }] });
    const [id = ''] = await idsOf(client.batches.list());
    expect(await client.batches.cancel(id)).toMatchObject({ id, status: 'cancelling' });
    const calls = gateway.provider.calls.map(({ method, path }) => `${method} ${decodeURIComponent(path)}`);
    expect(calls.slice(1)).toEqual([
      `POST /model-invocation-job/${BATCH_ARN}/stop`,
      `GET /model-invocation-job/${BATCH_ARN}`,
    ]);
  });

  const empty = (status: number): Reply => text('', 'application/json', status);
  const cancelledWith = async (stopReply: Reply) => {
    const bedrock = new FakeBedrock({ ...INVOCATION_JOB, jobs: [{ ...BATCH, status: 'InProgress' }] });
    const others = bedrockReply(bedrock);
    gateway.provider.replyWith((response, call) =>
      call.method === 'POST' ? stopReply(response, call) : others(response, call),
    );
    return ask('POST', `/batches/${toJobId(INVOCATION_JOB, BATCH_ARN)}/cancel`);
  };

  it.each([200, 202, 204])('cancels a batch when AWS answers with an empty %i', async (status) => {
    const answer = await cancelledWith(empty(status));
    expect([answer.status, jsonOf(answer)['status']]).toEqual([200, 'cancelling']);
  });

  it.each([
    ['a page of a proxy', text('<h1>Bad gateway</h1>', 'text/html', 502), 'provider_failed'],
    ['a page of a proxy that says 200', text('<h1>Sign in</h1>', 'text/html'), 'provider_invalid_response'],
    ['a redirect', text('', 'text/html', 302, { location: '/elsewhere' }), 'provider_invalid_response'],
    ['half an answer', half('{"message":"stopping"}'), 'provider_invalid_response'],
    ['a failure without a word', empty(503), 'provider_failed'],
  ])('does not report a batch as cancelled when the answer is %s', async (_what, reply, code) => {
    expect(refusalOf(await cancelledWith(reply))).toMatchObject({ status: 502, code, source: 'provider' });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it.each([
    [{ ...body, role_arn: undefined }, 'role_arn'],
    [{ ...body, input_file_id: 'https://example.com/a' }, 'input_file_id'],
    [{ ...body, completion_window: '1h' }, 'completion_window'],
    [{ ...body, output_expires_after: {} }, 'output_expires_after'],
  ])('refuses an invalid batch before calling AWS (%#)', async (broken, param) => {
    const refusal = refusalOf(await ask('POST', '/batches', { body: broken }));
    expect(refusal).toEqual({ status: 400, code: 'validation_failed', param, source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it('returns every broken rule of a batch in the details, and the first in the message', async () => {
    const { error } = readObject(jsonOf(await ask('POST', '/batches', { body: {} })), 'body');
    const { message, details } = readObject(error, 'error');
    const rules = readArray(details, 'details').map((rule) =>
      readString(readObject(rule, 'rule')['message'], 'message'),
    );
    expect(rules.length).toBeGreaterThan(2);
    expect(message).toBe(`${rules[0]} (and ${rules.length - 1} more)`);
  });

  it.each(['batch_none', `batch_${Buffer.from('arn:aws:s3:::bucket').toString('base64url')}`])(
    'returns 404 for a malformed batch id: %s',
    async (id) => {
      const refusal = refusalOf(await ask('GET', `/batches/${id}`));
      expect(refusal).toEqual({ status: 404, code: 'not_found', param: 'batch_id', source: 'gateway' });
      expect(gateway.provider.calls).toHaveLength(0);
    },
  );

  it("returns AWS's refusal of a batch", async () => {
    withBatches({ jobs: [] });
    const id = `batch_${Buffer.from(BATCH_ARN).toString('base64url')}`;
    expect(refusalOf(await ask('GET', `/batches/${id}`))).toMatchObject({ status: 404, code: 'provider_rejected' });
    gateway.provider.replyWith(text('{"jobArn":', 'application/json'));
    expect(refusalOf(await ask('GET', `/batches/${id}`))).toMatchObject({ status: 502, source: 'provider' });
  });
});

describe('a fine-tuning job at Bedrock', () => {
  const body = { model: 'amazon.nova-micro-v1:0:128k', training_file: 's3://bucket/train/a.jsonl', role_arn: ROLE };

  it('creates and cancels a fine-tuning job at Bedrock', async () => {
    withTuning({ jobs: [{ ...TUNING, jobArn: TUNING_ARN, status: 'InProgress' }] });
    const created = jsonOf(
      await ask('POST', '/fine_tuning/jobs', { body: { ...body, hyperparameters: { n_epochs: 2 } } }),
    );
    expect(created).toMatchObject({ object: 'fine_tuning.job', status: 'running', fine_tuned_model: null });
    expect(sentTo(gateway.provider.calls.find(({ method }) => method === 'POST'))).toMatchObject({
      baseModelIdentifier: body.model,
      trainingDataConfig: { s3Uri: body.training_file },
      hyperParameters: { epochCount: '2' },
    });
    const id = readString(created['id'], 'id');
    expect(await client.fineTuning.jobs.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    // A job is read when it is created and when it is cancelled. To settle it, the gateway reads it once more, which other
    // cases must not count.
    const isRead = ({ method, path }: ProviderCall): boolean =>
      method === 'GET' && path.startsWith(CUSTOMIZATION_JOB.jobPath);
    await eventually(() => gateway.provider.calls.filter(isRead).length === 3);
  });

  it.each([
    [{ ...body, training_file: undefined }, 'training_file'],
    [{ ...body, training_file: 'file-abc' }, 'training_file'],
    [{ ...body, surprise: 7 }, 'surprise'],
  ])('refuses an invalid fine-tuning job before calling AWS (%#)', async (broken, param) => {
    const refusal = refusalOf(await ask('POST', '/fine_tuning/jobs', { body: broken }));
    expect(refusal).toEqual({ status: 400, code: 'validation_failed', param, source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('routes that Bedrock does not support', () => {
  it.each([
    ['GET', '/fine_tuning/jobs/ftjob-1/events'],
    ['GET', '/fine_tuning/jobs/ftjob-1/checkpoints'],
    ['POST', '/fine_tuning/jobs/ftjob-1/pause'],
    ['POST', '/fine_tuning/jobs/ftjob-1/resume'],
    ['GET', '/files'],
    ['POST', '/files'],
    ['GET', '/files/file-1'],
    ['GET', '/files/file-1/content'],
    ['DELETE', '/files/file-1'],
    ['GET', '/threads/thread_1/runs'],
    ['POST', '/threads'],
  ])('refuses a route that Bedrock lacks without calling it: %s %s', async (method, path) => {
    const refusal = refusalOf(await ask(method, path));
    expect(refusal).toEqual({ status: 400, code: 'provider_not_supported', param: null, source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});
