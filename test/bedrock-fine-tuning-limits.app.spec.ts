// Fine-tuning jobs of Bedrock are reserved from their training file in S3, and charged that bound, since AWS reports no tokens.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderJob } from '../src/gateway/deferred/provider-job.entity.js';
import { eventually } from './support/eventually.js';
import { CUSTOMIZATION_JOBS, FakeBedrockJobs, lines, s3Error } from './support/fake-bedrock-jobs.js';
import { json, silence } from './support/fake-provider.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const MODEL = 'amazon.nova-micro-v1:0:128k';
const EXAMPLE = { messages: [{ role: 'user', content: [{ text: 'Hello' }] }] };
const EXAMPLES = 10;
const EPOCHS = 3;
const TOKENS = EXAMPLES * (JSON.stringify(EXAMPLE).length + 64) * EPOCHS;
const NANO_PER_TOKEN = 8_000;
const RAW = 's3://bucket/in/examples.jsonl';
const FIRST = 'job000000001';
const JOB = {
  model: MODEL,
  training_file: RAW,
  role_arn: 'arn:aws:iam::123456789012:role/worker',
  output_s3_uri: 's3://bucket/out/',
  hyperparameters: { n_epochs: EPOCHS },
};
const PATH = '/v1/fine_tuning/jobs';

let gateway: UsageGateway;
let bedrock: string;
let account: FakeBedrockJobs;

beforeAll(async () => {
  gateway = await startUsageGateway({ PROVIDER_JOB_CHECK_MS: '100', USAGE_LEASE_MARGIN_MS: '1000' });
  bedrock = await gateway.virtualKey('bedrock', { config: { timeout_ms: 3_000 } });
  const price = { provider: 'bedrock', model: MODEL, unit: 'training', price: '0.000008' };
  await gateway.admin.create('/v1/prices', price);
});
beforeEach(async () => {
  await gateway.app.dataSource.query('DELETE FROM provider_jobs');
  await gateway.app.dataSource.query('DELETE FROM usage_reservations');
  await gateway.reset();
  account = new FakeBedrockJobs(CUSTOMIZATION_JOBS);
  account.files.set(RAW, lines(Array(EXAMPLES).fill(EXAMPLE)));
  gateway.provider.replyWith(account.reply);
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

const create = (body: object = {}, virtualKey = bedrock): Promise<Answer> =>
  gateway.admin.post(PATH, { ...JOB, ...body }, { 'x-gateway-virtual-key': virtualKey });
const limit = (tokens: number): Promise<string> =>
  gateway.limit({
    conditions: [{ key: 'endpoint', value: 'fine_tuning' }],
    credit_limit: (tokens * NANO_PER_TOKEN) / 1e9,
  });
const settled = (): Promise<void> =>
  eventually(async () => {
    const jobs = await gateway.app.dataSource.getRepository(ProviderJob).find();
    return jobs.length > 0 && jobs.every(({ settledAt }) => settledAt !== null);
  });
const createsSent = (): number => gateway.provider.calls.filter(({ method }) => method === 'POST').length;

describe('a fine-tuning job of Bedrock under a usage limit', () => {
  it('is refused before it is sent where it does not fit, to the token', async () => {
    await limit(TOKENS - 1);
    expect(refusalOf(await create())).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(createsSent()).toBe(0);
  });

  it.each(['Completed', 'Stopped'])('is charged its bound once when it is %s', async (status) => {
    await limit(TOKENS);
    const answer = await create();
    expect([answer.status, answer.headers['x-gateway-limit-remaining']]).toEqual([200, '0']);
    account.change(FIRST, { status });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([
      {
        endpoint: 'fine_tuning',
        provider: 'bedrock',
        model: MODEL,
        costNano: String(TOKENS * NANO_PER_TOKEN),
        quantities: { training: TOKENS },
        source: 'computed',
      },
    ]);
  });

  it('costs nothing when it fails', async () => {
    await limit(TOKENS);
    await create();
    account.change(FIRST, { status: 'Failed' });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0', source: 'computed' }]);
  });

  it('is found by its training file when its create is not answered', async () => {
    await limit(TOKENS);
    account.change('job0other', { ...JOB, status: 'Completed', creationTime: new Date().toISOString() });
    account.replyToCreate = () => silence;
    expect(refusalOf(await create())).toMatchObject({ status: 504, code: 'provider_timeout' });
    account.change('job000000002', { status: 'Failed' });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0' }]);
  });

  it.each([
    ['n_epochs', { hyperparameters: undefined }],
    ['n_epochs', { hyperparameters: { n_epochs: 'auto' } }],
    ['n_epochs', { hyperparameters: { n_epochs: 1_001 } }],
    ['training_file', { training_file: 's3://bucket/in/none.jsonl' }],
    ['training_file', { training_file: 's3://bucket/in/' }],
  ])('is refused where %s leaves open what it may use: %j', async (param, body) => {
    await limit(TOKENS);
    expect(refusalOf(await create(body))).toMatchObject({ status: 412, code: 'usage_not_bounded', param });
    expect(createsSent()).toBe(0);
  });

  it('is refused where an example has an image', async () => {
    const image = { image: { format: 'png', source: { s3Location: { uri: 's3://bucket/in/1.png' } } } };
    account.files.set(RAW, lines([EXAMPLE, { messages: [{ role: 'user', content: [image] }] }]));
    await limit(TOKENS);
    const answer = await create();
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param: 'training_file' });
    expect(answer.text).toContain('line 2 has an image');
  });

  it('gives back what was reserved when AWS refuses it', async () => {
    const policy = await limit(TOKENS);
    account.replyToCreate = () => json({ message: 'role cannot be assumed' }, 400);
    expect((await create()).status).toBe(400);
    const { data } = Object(jsonOf(await gateway.admin.get(`/v1/policies/usage-limits/${policy}/entities`)));
    expect(data).toEqual([]);
  });

  it('is refused for fields that AWS would not take, before its file is read', async () => {
    await limit(TOKENS);
    expect(refusalOf(await create({ role_arn: 'x' }))).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('a fine-tuning job of Bedrock without a usage limit', () => {
  it('is charged its bound all the same', async () => {
    expect((await create()).status).toBe(200);
    account.change(FIRST, { status: 'Completed' });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([
      { model: MODEL, costNano: String(TOKENS * NANO_PER_TOKEN), bucketIds: [], source: 'computed' },
    ]);
  });

  it('passes where S3 cannot be read, and has a row without figures', async () => {
    account.replyForFile = () => s3Error(403, 'AccessDenied');
    expect((await create()).status).toBe(200);
    account.change(FIRST, { status: 'Completed' });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0', quantities: {}, source: 'computed' }]);
    expect(await gateway.books.alerts()).toEqual([]);
  });
});
