// Batches of Bedrock are reserved from their input in S3, and settled once by their manifest.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderJob } from '../src/gateway/deferred/provider-job.entity.js';
import { eventually } from './support/eventually.js';
import { FakeBedrockJobs, INVOCATION_JOBS, lines, s3Error } from './support/fake-bedrock-jobs.js';
import { json, silence } from './support/fake-provider.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const MODEL = 'anthropic.claude-3-haiku-20240307-v1:0';
const RECORDS = 100;
const CALL = {
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hello' }],
};
const NANO = 1e9;
/** In billionths of a US dollar: half of the standard prices. */
const BATCH_PRICE = { input: 500, output: 2_000 };
/** A name that S3 and its clients must encode alike. */
const RAW = "s3://bucket/in/records(1)'a'.jsonl";
const FOLDER = 's3://bucket/out/job000000001';
const BATCH = {
  model: MODEL,
  input_file_id: RAW,
  role_arn: 'arn:aws:iam::123456789012:role/worker',
  output_s3_uri: 's3://bucket/out/',
};
const MANIFEST = { totalRecordCount: RECORDS, processedRecordCount: RECORDS, successRecordCount: RECORDS };
const USED = { inputTokenCount: 900, outputTokenCount: 400 };
const USED_NANO = USED.inputTokenCount * BATCH_PRICE.input + USED.outputTokenCount * BATCH_PRICE.output;

let gateway: UsageGateway;
let bedrock: string;
let account: FakeBedrockJobs;
/** Of all records: what a limit is asked for. */
let boundNano: number;

beforeAll(async () => {
  gateway = await startUsageGateway({ PROVIDER_JOB_CHECK_MS: '100', USAGE_LEASE_MARGIN_MS: '1000' });
  bedrock = await gateway.virtualKey('bedrock', { config: { timeout_ms: 3_000 } });
  for (const mode of ['standard', 'batch'] as const) {
    for (const [unit, nano] of Object.entries(BATCH_PRICE)) {
      const price = (((mode === 'batch' ? 1 : 2) * nano) / NANO).toFixed(12);
      await gateway.admin.create('/v1/prices', { provider: 'bedrock', model: MODEL, unit, mode, price });
    }
  }
  await start();
  const watching = await limit({ credit_limit: 1 });
  await create();
  const [[, reserved] = []] = Object(await usage(watching));
  boundNano = Math.round(reserved * NANO);
});
beforeEach(start);

async function start(): Promise<void> {
  await gateway.app.dataSource.query('DELETE FROM provider_jobs');
  await gateway.app.dataSource.query('DELETE FROM usage_reservations');
  await gateway.reset();
  account = new FakeBedrockJobs(INVOCATION_JOBS);
  account.upload(RAW, Array(RECORDS).fill(CALL));
  gateway.provider.replyWith(account.reply);
}

afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

const create = (body: object = {}, virtualKey = bedrock): Promise<Answer> =>
  gateway.admin.post('/v1/batches', { ...BATCH, ...body }, { 'x-gateway-virtual-key': virtualKey });
const limit = (fields: object): Promise<string> =>
  gateway.limit({
    conditions: [
      { key: 'provider', value: 'bedrock' },
      { key: 'endpoint', value: 'batches' },
    ],
    ...fields,
  });
const settled = (): Promise<void> =>
  eventually(async () => {
    const jobs = await gateway.app.dataSource.getRepository(ProviderJob).find();
    return jobs.length > 0 && jobs.every(({ settledAt }) => settledAt !== null);
  });
const usage = async (policy: string): Promise<unknown> => {
  const { data } = Object(jsonOf(await gateway.admin.get(`/v1/policies/usage-limits/${policy}/entities`)));
  return data.map(({ current_usage, reserved }: Record<string, unknown>) => [current_usage, reserved]);
};
const finish = (fields: object, manifest?: object): void => {
  if (manifest !== undefined) account.files.set(`${FOLDER}/manifest.json.out`, JSON.stringify(manifest));
  account.change('job000000001', { ...MANIFEST, status: 'Completed', ...fields });
};
const createsSent = (): number => gateway.provider.calls.filter(({ method }) => method === 'POST').length;

describe('a batch of Bedrock under a usage limit', () => {
  it('is reserved from its records in S3, to the cent, and refused where they do not fit', async () => {
    const watching = await limit({ credit_limit: 1 });
    expect((await create()).status).toBe(200);
    expect(await usage(watching)).toEqual([[0, boundNano / NANO]]);
    expect(boundNano).toBeGreaterThan(RECORDS * 50 * BATCH_PRICE.output);
    expect(boundNano).toBeLessThan(RECORDS * (50 * BATCH_PRICE.output + 400 * BATCH_PRICE.input));
    finish({}, { ...MANIFEST, ...USED });
    await settled();
    expect(await usage(watching)).toEqual([[USED_NANO / NANO, 0]]);
    expect(await gateway.books.ledger(1)).toMatchObject([
      {
        endpoint: 'batches',
        provider: 'bedrock',
        model: MODEL,
        costNano: String(USED_NANO),
        quantities: { input: 900, output: 400 },
        source: 'provider',
        mode: 'batch',
      },
    ]);
    await limit({ credit_limit: (boundNano - 1) / NANO });
    const before = createsSent();
    expect(refusalOf(await create())).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(createsSent()).toBe(before);
  });

  it('is settled when a caller reads it, by its results where the manifest has no sums', async () => {
    const policy = await limit({ credit_limit: 1 });
    const { id } = Object(jsonOf(await create()));
    await gateway.app.dataSource.query(`UPDATE provider_jobs SET next_check_at = now() + interval '1 hour'`);
    const results = [
      { recordId: 'record-0', modelOutput: { usage: { input_tokens: 10, output_tokens: 20 } } },
      { recordId: 'record-1', error: { errorCode: 400 } },
      {
        recordId: 'record-2',
        modelOutput: { usage: { input_tokens: 5, cache_read_input_tokens: 0, output_tokens: 1 } },
      },
    ];
    account.files.set(`${FOLDER}/${RAW.slice(RAW.lastIndexOf('/') + 1)}.out`, lines(results));
    finish({ successRecordCount: 2 }, MANIFEST);
    expect((await gateway.admin.get(`/v1/batches/${id}`, { 'x-gateway-virtual-key': bedrock })).status).toBe(200);
    await settled();
    const nano = 15 * BATCH_PRICE.input + 21 * BATCH_PRICE.output;
    expect(await usage(policy)).toEqual([[nano / NANO, 0]]);
  });

  it.each([
    ['failed before any record', { status: 'Failed', successRecordCount: 0 }, undefined, 0],
    ['failed, and says nothing', { status: 'Failed', successRecordCount: undefined }, undefined, 0],
    ['was stopped half-way', { status: 'Stopped', successRecordCount: 40 }, USED, USED_NANO],
    ['has no manifest', { status: 'Completed' }, undefined, 'bound'],
    ['says how much it has read alone', { status: 'Completed' }, { inputTokenCount: 900 }, 'bound'],
    ['has a manifest and results without figures', { status: 'Completed' }, {}, 'bound'],
  ])('that %s is charged for what it may have done', async (_what, fields, manifest, expected) => {
    await limit({ credit_limit: 1 });
    await create();
    finish(fields, manifest);
    await settled();
    const nano = expected === 'bound' ? boundNano : expected;
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: String(nano) }]);
  });

  it('whose create is not answered is found again by its file, and settled', async () => {
    const policy = await limit({ credit_limit: 1 });
    account.replyToCreate = () => silence;
    expect(refusalOf(await create())).toMatchObject({ status: 504, code: 'provider_timeout' });
    expect(await usage(policy)).toEqual([[0, boundNano / NANO]]);
    finish({}, { ...MANIFEST, ...USED });
    await settled();
    expect(await usage(policy)).toEqual([[USED_NANO / NANO, 0]]);
  });

  it('is charged what its manifest says, also where its input was replaced by a larger one', async () => {
    const policy = await limit({ credit_limit: 1 });
    await create();
    finish({}, { ...MANIFEST, inputTokenCount: 1_000_000, outputTokenCount: 1_000_000 });
    await settled();
    expect(await usage(policy)).toEqual([[(1_000_000 * (BATCH_PRICE.input + BATCH_PRICE.output)) / NANO, 0]]);
  });

  it('that AWS refuses gives back what was reserved', async () => {
    const policy = await limit({ credit_limit: 1 });
    account.replyToCreate = () => json({ message: 'role cannot be assumed' }, 400);
    expect((await create()).status).toBe(400);
    expect(await usage(policy)).toEqual([]);
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0', outcome: 'failed' }]);
  });

  it.each([
    ['the credential may not read S3', {}, s3Error(403, 'AccessDenied'), 'the file cannot be read: 403'],
    [
      'the file is not there',
      { input_file_id: 's3://bucket/in/none.jsonl' },
      undefined,
      'the file cannot be read: 404',
    ],
    ['a folder is named', { input_file_id: 's3://bucket/in/' }, undefined, 'it must name one file'],
  ])('is refused where %s, and the credential is not at fault', async (_what, body, reply, reason) => {
    await limit({ type: 'tokens', credit_limit: 1_000_000 });
    account.replyForFile = () => reply;
    const answer = await create(body);
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param: 'input_file_id' });
    expect(answer.text).toContain(reason);
    expect(createsSent()).toBe(0);
    expect(await gateway.books.alerts()).toEqual([]);
  });

  it.each([
    ['of a model that is not known', 'acme.unknown-v1:0', CALL, 'line 1: modelId'],
    ['without a call', MODEL, undefined, 'line 1 has no modelInput'],
  ])('is refused for a record %s', async (_what, model, record, reason) => {
    account.upload(RAW, [record]);
    await limit({ type: 'tokens', credit_limit: 1_000_000 });
    const answer = await create({ model });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded' });
    expect(answer.text).toContain(reason);
  });

  it('is refused for fields that AWS would not take, before its file is read', async () => {
    await limit({ credit_limit: 1 });
    expect(refusalOf(await create({ role_arn: 'x' }))).toMatchObject({
      status: 400,
      code: 'validation_failed',
      param: 'role_arn',
    });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('cannot be bounded with an API key of Bedrock, which S3 does not know', async () => {
    const withKey = await gateway.admin.create('/v1/virtual-keys', {
      name: 'with key',
      provider: 'bedrock',
      key: 'bedrock-api-key',
      config: { base_url: gateway.provider.url, aws_region: 'us-east-1' },
    });
    await limit({ credit_limit: 1 });
    const answer = await create({}, String(withKey['slug']));
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded' });
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('a batch of Bedrock without a usage limit', () => {
  it('passes without a look at S3, and has its row in the ledger when it is over', async () => {
    expect((await create()).status).toBe(200);
    expect(gateway.provider.calls[0]).toMatchObject({ method: 'POST', path: '/model-invocation-job' });
    finish({}, { ...MANIFEST, ...USED });
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([
      { model: MODEL, costNano: String(USED_NANO), bucketIds: [], source: 'provider' },
    ]);
  });

  it('has a row without figures where S3 cannot be read', async () => {
    account.replyForFile = () => s3Error(403, 'AccessDenied');
    await create();
    finish({});
    await settled();
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '0', quantities: {}, source: 'computed' }]);
    expect(await gateway.books.alerts()).toEqual([]);
  });
});
