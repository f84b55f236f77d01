import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type JsonObject, readArray, readObject, readString } from '../../common/json/read.js';
import { runner } from '../../gateway/relay/__fixtures__/run-mapped.js';
import { FakeBedrock } from '../../upstream/providers/bedrock/__fixtures__/fake-bedrock.js';
import { toJobId } from '../../upstream/providers/bedrock/jobs.js';
import { toFileId } from '../../upstream/providers/bedrock/s3-file.js';
import { createBedrockFineTuning } from './bedrock-fine-tuning.js';
import { CUSTOMIZATION_JOB, toFineTuningJob } from './bedrock-fine-tuning-job.js';

const fixture = (name: string): JsonObject =>
  readObject(JSON.parse(readFileSync(new URL(`__fixtures__/${name}.json`, import.meta.url), 'utf8')), 'fixture');

const JOB = fixture('bedrock-fine-tuning-job');
const SUMMARY = fixture('bedrock-fine-tuning-summary');
const ARN = readString(JOB['jobArn'], 'jobArn');
const ID = toJobId(CUSTOMIZATION_JOB, ARN);
const BODY: JsonObject = {
  model: 'amazon.nova-micro-v1:0:128k',
  training_file: 's3://bucket/train/a.jsonl',
  role_arn: 'arn:aws:iam::123456789012:role/tuner',
};
const provider = createBedrockFineTuning(() => 'unique-1');

function setUp(options: Partial<ConstructorParameters<typeof FakeBedrock>[0]> = {}) {
  const bedrock = new FakeBedrock({ ...CUSTOMIZATION_JOB, jobs: [JOB], newArn: ARN, ...options });
  return { bedrock, run: runner(provider, bedrock) };
}

const refusal = (code: string, param: string) => expect.objectContaining({ code, param });
const params = (id: string) => ({ params: { fine_tuning_job_id: id } });

const HYPERPARAMETERS = { n_epochs: 2, learning_rate: 0.00001, learning_rate_warmup_steps: 10 };

describe('fine-tuning jobs of bedrock', () => {
  const whole = {
    id: ID,
    object: 'fine_tuning.job',
    created_at: Date.UTC(2026, 10, 20, 10, 15, 30) / 1_000,
    error: { code: null, message: null, param: null },
    fine_tuned_model: JOB['outputModelArn'],
    finished_at: Date.UTC(2026, 10, 20, 14, 0, 0) / 1_000,
    hyperparameters: HYPERPARAMETERS,
    method: { type: 'supervised', supervised: { hyperparameters: HYPERPARAMETERS } },
    model: 'amazon.nova-micro-v1:0:128k',
    organization_id: '123456789012',
    result_files: [],
    status: 'succeeded',
    trained_tokens: null,
    training_file: toFileId('s3://amzn-s3-demo-bucket/train/train.jsonl'),
    validation_file: toFileId('s3://amzn-s3-demo-bucket/train/validation.jsonl'),
    seed: null,
    integrations: null,
    estimated_finish: null,
    tollgate: { provider_status: 'Completed' },
  };

  it('has every field of a job, times in seconds, and null for values that AWS leaves out', () => {
    expect(toFineTuningJob(JOB)).toEqual(whole);
  });

  it('has null in a list for fields that AWS returns only for a single job', () => {
    const hyperparameters = { n_epochs: null };
    const method = { type: 'supervised', supervised: { hyperparameters } };
    const unknown = { hyperparameters, method, training_file: null, validation_file: null };
    expect(toFineTuningJob(SUMMARY)).toEqual({ ...whole, ...unknown });
  });

  it('has an id that fits into a path', () => {
    expect(ID).toMatch(/^ftjob-[A-Za-z0-9_-]{1,506}$/);
  });

  it.each([
    ['InProgress', 'running'],
    ['Completed', 'succeeded'],
    ['Failed', 'failed'],
    ['Stopping', 'cancelled'],
    ['Stopped', 'cancelled'],
    ['SomethingNew', 'running'],
    [undefined, 'queued'],
  ])('maps the job status %s to %s', (awsStatus, status) => {
    const job = toFineTuningJob({ ...JOB, status: awsStatus });
    expect(job.status).toBe(status);
    expect(job['fine_tuned_model']).toBe(status === 'succeeded' ? JOB['outputModelArn'] : null);
    expect(job['tollgate']).toEqual({ provider_status: awsStatus ?? null });
  });

  it.each([
    ['NotStarted', 'queued'],
    ['InProgress', 'validating_files'],
    ['Completed', 'running'],
  ])('maps the validation status %s to %s', (validation, status) => {
    const statusDetails = { validationDetails: { status: validation } };
    expect(toFineTuningJob({ ...JOB, status: 'InProgress', statusDetails }).status).toBe(status);
    expect(toFineTuningJob({ ...JOB, status: 'Stopped', statusDetails }).status).toBe('cancelled');
  });

  it('has no finished_at before AWS reports the end of the job', () => {
    expect(toFineTuningJob({ ...JOB, endTime: undefined, status: 'Stopping' })['finished_at']).toBeNull();
  });

  it.each([
    ['Failed', 'No access'],
    ['Completed', null],
  ])('maps the failure message of a job with status %s to %j', (status, message) => {
    const job = toFineTuningJob({ ...JOB, status, failureMessage: 'No access' });
    expect(job['error']).toEqual({ code: null, message, param: null });
  });

  it.each([
    [
      { epochCount: '3', batchSize: '8' },
      { n_epochs: 3, batch_size: 8 },
    ],
    [{ learningRateMultiplier: '1.00E-1' }, { n_epochs: 'auto', learning_rate_multiplier: 0.1 }],
    [{ earlyStoppingPatience: 'none' }, { n_epochs: 'auto', early_stopping_patience: 'none' }],
    [undefined, { n_epochs: null }],
  ])('maps the hyperparameters %j to %j', (hyperParameters, hyperparameters) => {
    expect(toFineTuningJob({ ...JOB, hyperParameters })['hyperparameters']).toEqual(hyperparameters);
  });

  it('names a customised base model by its ARN', () => {
    const baseModelArn = JOB['outputModelArn'];
    expect(toFineTuningJob({ ...JOB, baseModelArn })['model']).toBe(baseModelArn);
  });
});

describe('fine_tuning.jobs.list at bedrock', () => {
  const jobs = Array.from({ length: 45 }, (_, index) => ({
    ...SUMMARY,
    jobArn: ARN.replace(/[^/]+$/, String(45 - index).padStart(12, '0')),
  }));
  const expected = jobs.map(({ jobArn }) => toJobId(CUSTOMIZATION_JOB, jobArn));

  it.each([1, 7, 20, 44, 45, 100])('lists 45 jobs once each, in order, with %i per page', async (limit) => {
    const { bedrock, run } = setUp({ jobs, pageSize: 10 });
    const seen: string[] = [];
    for (let more = true; more;) {
      const after = seen.at(-1);
      const query = { limit: String(limit), ...(after === undefined ? {} : { after }) };
      const page = await run('fine_tuning.jobs.list', { query });
      for (const item of readArray(page['data'], 'data')) seen.push(readString(readObject(item, 'item')['id'], 'id'));
      more = page['has_more'] === true;
    }
    expect(seen).toEqual(expected);
    expect(bedrock.asked.every(({ path, plane }) => path === '/model-customization-jobs' && plane === 'control')).toBe(
      true,
    );
  });

  it('refuses to list after an id that is not a job', async () => {
    const list = setUp({ jobs }).run('fine_tuning.jobs.list', { query: { after: 'ftjob-abc123' } });
    await expect(list).rejects.toEqual(refusal('validation_failed', 'after'));
  });
});

describe('fine_tuning.jobs.retrieve at bedrock', () => {
  it('reads the job by its ARN in its region', async () => {
    const { bedrock, run } = setUp();
    expect(await run('fine_tuning.jobs.retrieve', params(ID), { aws_region: 'us-west-2' })).toEqual(
      toFineTuningJob(JOB),
    );
    expect(bedrock.asked).toEqual([
      {
        method: 'GET',
        path: `/model-customization-jobs/${encodeURIComponent(ARN)}`,
        region: 'us-west-2',
        plane: 'control',
      },
    ]);
  });

  it.each([
    'ftjob-abc123',
    ARN,
    `${ID}?x=1`,
    ...[`${ARN}/../x`, `${ARN}..%2f`, `${ARN}%00`, `${ARN}?x`, `${ARN}#x`].map((arn) =>
      toJobId(CUSTOMIZATION_JOB, arn),
    ),
    toJobId(CUSTOMIZATION_JOB, ARN.replace('/amazon', '/../amazon')),
    toJobId(CUSTOMIZATION_JOB, 'arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/abcd1234efgh'),
  ])('returns not_found for the id %j without a call to AWS', async (id) => {
    const { bedrock, run } = setUp();
    for (const operation of ['fine_tuning.jobs.retrieve', 'fine_tuning.jobs.cancel']) {
      await expect(run(operation, params(id))).rejects.toEqual(refusal('not_found', 'fine_tuning_job_id'));
    }
    expect(bedrock.asked).toEqual([]);
  });
});

describe('fine_tuning.jobs.create at bedrock', () => {
  it('creates the job and returns all its fields', async () => {
    const { bedrock, run } = setUp();
    expect(await run('fine_tuning.jobs.create', { body: BODY })).toEqual(toFineTuningJob(JOB));
    expect(bedrock.asked[0]).toEqual({
      method: 'POST',
      path: '/model-customization-jobs',
      region: undefined,
      plane: 'control',
      body: {
        jobName: 'ft-unique-1',
        customModelName: 'ft-unique-1',
        clientRequestToken: 'unique-1',
        customizationType: 'FINE_TUNING',
        baseModelIdentifier: 'amazon.nova-micro-v1:0:128k',
        roleArn: 'arn:aws:iam::123456789012:role/tuner',
        trainingDataConfig: { s3Uri: 's3://bucket/train/a.jsonl' },
        outputDataConfig: { s3Uri: 's3://bucket/train/' },
      },
    });
  });

  it('accepts all options of a fine-tuning job', async () => {
    const { bedrock, run } = setUp();
    const body = {
      ...BODY,
      validation_file: toFileId('s3://bucket/train/b.jsonl'),
      suffix: 'my-model',
      job_name: 'mine',
      output_s3_uri: 's3://bucket/out',
      hyperparameters: {
        n_epochs: 3,
        batch_size: 'auto',
        learning_rate_multiplier: 0.1,
        learning_rate_warmup_steps: '5',
      },
    };
    await run('fine_tuning.jobs.create', { body });
    expect(bedrock.asked[0]?.body).toMatchObject({
      jobName: 'mine',
      customModelName: 'my-model',
      validationDataConfig: { validators: [{ s3Uri: 's3://bucket/train/b.jsonl' }] },
      outputDataConfig: { s3Uri: 's3://bucket/out' },
      hyperParameters: { epochCount: '3', learningRateMultiplier: '0.1', learningRateWarmupSteps: '5' },
    });
  });

  it.each([
    [
      { n_epochs: 3, learning_rate: 0.1 },
      { epochCount: '3', learningRate: '0.1' },
    ],
    [
      { learning_rate: 0.1, early_stopping: true, batch_size: null },
      { learningRate: '0.1', earlyStopping: 'true' },
    ],
    [{ n_epochs: 'auto', learning_rate_multiplier: 'auto' }, {}],
    [undefined, undefined],
  ])('reads the hyperparameters of a supervised method: %j', async (hyperparameters, hyperParameters) => {
    const { bedrock, run } = setUp();
    const method = { type: 'supervised', supervised: { hyperparameters } };
    await run('fine_tuning.jobs.create', { body: { ...BODY, method } });
    expect(bedrock.asked[0]?.body).toMatchObject({ customizationType: 'FINE_TUNING' });
    expect(Object(bedrock.asked[0]?.body)['hyperParameters']).toEqual(hyperParameters);
  });

  it('makes a job once for one idempotency key', async () => {
    const { bedrock, run } = setUp();
    await run('fine_tuning.jobs.create', { body: BODY, changeKey: 'abc' });
    expect(bedrock.asked[0]?.body).toMatchObject({ clientRequestToken: 'abc', jobName: 'ft-abc' });
  });

  it.each([
    ['without model', { model: undefined }, 'model'],
    ['without training_file', { training_file: null }, 'training_file'],
    ['without role_arn', { role_arn: undefined }, 'role_arn'],
    ['with a file of elsewhere', { training_file: 'file-abc' }, 'training_file'],
    ['with a validation file of elsewhere', { validation_file: 'file-abc' }, 'validation_file'],
    ['with a folder as input and no output', { training_file: 's3://bucket/in/' }, 'output_s3_uri'],
    ['with n_epochs 0', { hyperparameters: { n_epochs: 0 } }, 'hyperparameters.n_epochs'],
    ['with n_epochs as text', { hyperparameters: { n_epochs: '3' } }, 'hyperparameters.n_epochs'],
    ['with a nested hyperparameter', { hyperparameters: { a: {} } }, 'hyperparameters.a'],
    ['with hyperparameters that are not an object', { hyperparameters: 3 }, 'hyperparameters'],
    ['with a suffix that no model may have', { suffix: 'a--b' }, 'suffix'],
    ['with a field of neither', { surprise: 7 }, 'surprise'],
    ['with a method that Bedrock has not', { method: { type: 'dpo' } }, 'method'],
    ['with a method that is not an object', { method: 'supervised' }, 'method'],
    [
      'with n_epochs 0 in the method',
      { method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 0 } } } },
      'method.supervised.hyperparameters.n_epochs',
    ],
    [
      'with hyperparameters at two places',
      {
        hyperparameters: { n_epochs: 1 },
        method: { type: 'supervised', supervised: { hyperparameters: { n_epochs: 2 } } },
      },
      'hyperparameters',
    ],
    [
      'with two spellings of one hyperparameter',
      { hyperparameters: { learning_rate: 0.1, learningRate: 0.2 } },
      'hyperparameters.learningRate',
    ],
  ])('refuses a job %s', async (_name, change, param) => {
    const { bedrock, run } = setUp();
    const created = run('fine_tuning.jobs.create', { body: { ...BODY, ...change } });
    await expect(created).rejects.toEqual(refusal('validation_failed', param));
    expect(bedrock.asked).toEqual([]);
  });

  it.each([
    ['LearningRate', 'learning_rate'],
    ['_learning_rate', 'learning_rate'],
    ['learningRate', 'learning_rate'],
    ['learningRateMultiplier', 'learning_rate_multiplier'],
    ['learning_rateMultiplier', 'learning_rate_multiplier'],
    ['batchSize', 'batch_size'],
    ['epochCount', 'n_epochs'],
    ['epoch_count', 'n_epochs'],
    ['nEpochs', 'n_epochs'],
  ])('refuses the hyperparameter %s, and names %s instead', async (name, ours) => {
    for (const value of [1, 'auto']) {
      const { bedrock, run } = setUp();
      const created = run('fine_tuning.jobs.create', { body: { ...BODY, hyperparameters: { [name]: value } } });
      await expect(created).rejects.toMatchObject({
        code: 'validation_failed',
        details: [{ param: `hyperparameters.${name}`, message: `hyperparameters.${name} must be written ${ours}` }],
      });
      expect(bedrock.asked).toEqual([]);
    }
  });

  it('returns the request and the id when the new job cannot be read yet', async () => {
    const job = await setUp({ jobs: [] }).run('fine_tuning.jobs.create', { body: BODY });
    expect(job).toMatchObject({
      id: ID,
      status: 'queued',
      model: 'amazon.nova-micro-v1:0:128k',
      training_file: toFileId('s3://bucket/train/a.jsonl'),
      created_at: null,
      fine_tuned_model: null,
    });
  });
});

describe('fine_tuning.jobs.cancel at bedrock', () => {
  it.each([
    ['InProgress', 'cancelled'],
    ['Stopping', 'cancelled'],
    ['Stopped', 'cancelled'],
    ['Completed', 'succeeded'],
    ['Failed', 'failed'],
  ])('stops a job, whose status is then %s, and returns %s', async (awsStatus, status) => {
    const { bedrock, run } = setUp({ jobs: [{ ...JOB, status: awsStatus }] });
    expect(await run('fine_tuning.jobs.cancel', params(ID))).toMatchObject({ id: ID, status });
    expect(bedrock.asked[0]).toEqual({
      method: 'POST',
      path: `/model-customization-jobs/${encodeURIComponent(ARN)}/stop`,
      region: 'us-west-2',
      plane: 'control',
    });
  });
});
