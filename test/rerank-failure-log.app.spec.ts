import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { JsonObject } from '../src/common/json/read.js';
import { USAGE_STORE } from '../src/usage/usage-store.token.js';
import { StoreUnavailableError, type UsageStore } from '../src/usage/usage-store.types.js';
import { eventually } from './support/eventually.js';
import { json, type Reply, silence, text } from './support/fake-provider.js';
import { requestLine } from './support/request-line.js';
import { COST, COST_NANO, REQUEST, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const NAMED = { model: REQUEST.model, documents: REQUEST.documents.length };
const PRESUMED = { cost_nano: Number(COST_NANO) };
const FREE = { cost_nano: 0 };

let gateway: UsageGateway;
/** Times out after half a second. */
let hasty: string;
let traces = 0;

beforeAll(async () => {
  gateway = await startUsageGateway();
  hasty = await gateway.virtualKey('cohere', { config: { timeout_ms: 500 } });
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

async function lineOf(virtualKey: string, body: object = REQUEST, signal?: AbortSignal): Promise<JsonObject> {
  const trace = `failed-${(traces += 1)}`;
  const more = { headers: { 'x-gateway-trace-id': trace }, ...(signal && { signal }) };
  await gateway.rerank(virtualKey, body, more).catch(() => undefined);
  return requestLine(gateway.app, trace);
}

describe('the log line of a rerank that fails', () => {
  it.each<[string, Reply, number, object]>([
    ['refuses it', json({ message: 'no' }, 422), 422, FREE],
    ['limits the rate', json({}, 429, { 'retry-after': '60' }), 429, FREE],
    ['fails', json({}, 500), 502, FREE],
    ['sends a web page', text('<html>', 'text/html'), 502, PRESUMED],
    ['sends no scores', json({ id: 'c-1' }), 502, PRESUMED],
    ['says nothing in time', silence, 504, PRESUMED],
  ])('logs model, documents and cost when the provider %s', async (_what, reply, status, charged) => {
    gateway.provider.replyWith(reply);
    for (const credit_limit of [undefined, 1]) {
      if (credit_limit !== undefined) await gateway.limit({ credit_limit });
      expect(await lineOf(reply === silence ? hasty : gateway.cohere)).toMatchObject({ ...NAMED, ...charged, status });
    }
  });

  it('logs no cost when a usage limit refuses a rerank', async () => {
    await gateway.limit({ credit_limit: COST / 2 });
    const line = await lineOf(gateway.cohere);
    expect(line).toMatchObject({ ...NAMED, status: 412 });
    expect(line).not.toHaveProperty('cost_nano');
  });

  it('logs no cost when the counters are unavailable', async () => {
    await gateway.limit({ credit_limit: 1 });
    const store = gateway.app.app.get<UsageStore>(USAGE_STORE, { strict: false });
    jest.spyOn(store, 'reserve').mockRejectedValueOnce(new StoreUnavailableError());
    const line = await lineOf(gateway.cohere);
    expect(line).toMatchObject({ ...NAMED, status: 503 });
    expect(line).not.toHaveProperty('cost_nano');
  });

  it('logs the number of documents when there are too many', async () => {
    const documents = Array.from({ length: 1_001 }, () => 'a');
    const bedrock = await gateway.virtualKey('bedrock');
    expect(await lineOf(bedrock, { ...REQUEST, documents })).toMatchObject({ ...NAMED, documents: 1_001, status: 400 });
  });

  it('logs the presumed cost when the client disconnects', async () => {
    gateway.provider.replyWith(silence);
    const leaving = new AbortController();
    const line = lineOf(gateway.cohere, REQUEST, leaving.signal);
    await eventually(() => gateway.provider.calls.length === 1);
    leaving.abort();
    expect(await line).toMatchObject({ ...NAMED, status: 499, cost_nano: Number(COST_NANO) });
  });
});

describe('the log line of a job or a run', () => {
  it.each([
    ['made', json({ id: 'ftjob-1', object: 'fine_tuning.job' }), 200],
    ['refused', json({ error: { message: 'no' } }, 400), 400],
  ])("logs the model of a job's body: %s", async (_what, reply, status) => {
    const openai = await gateway.virtualKey('openai-compatible', { path: '/v1' });
    gateway.provider.replyWith(reply);
    const trace = `job-${status}`;
    const headers = { 'x-gateway-virtual-key': openai, 'x-gateway-trace-id': trace };
    await gateway.admin.post('/v1/fine_tuning/jobs', { model: 'gpt-4.1-mini', training_file: 'file-1' }, headers);
    expect(await requestLine(gateway.app, trace)).toMatchObject({ status, model: 'gpt-4.1-mini' });
  });
});
