import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../src/common/json/read.js';
import { type Ask, plainly } from './support/openai-client.js';
import { requestLine } from './support/request-line.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';

let gateway: RerankGateway;
let ask: Ask;
let traces = 0;

beforeAll(async () => {
  gateway = await startRerankGateway({ PROVIDER_STREAM_IDLE_MS: '2000' });
  const slug = await gateway.virtualKey('openai-compatible', { path: '/v1', config: { timeout_ms: 2_000 } });
  ask = plainly(gateway, slug);
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

/** The log line of an event stream that the provider starts and continues with the given function. */
async function lineOfStream(goOn: (response: ServerResponse) => void, signal?: AbortSignal): Promise<JsonObject> {
  gateway.provider.replyWith((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' });
    response.write('event: a\ndata: {}\n\n', () => goOn(response));
  });
  const trace = `stream-${(traces += 1)}`;
  const headers = { 'x-gateway-trace-id': trace };
  const more = signal === undefined ? {} : { signal };
  await ask('POST', '/threads/thread_1/runs', { body: { stream: true }, headers, ...more }).catch(() => undefined);
  return requestLine(gateway.app, trace);
}

describe('the log line of a streamed answer', () => {
  it('logs the provider call of a streamed answer', async () => {
    const line = await lineOfStream((response) => void response.end());
    expect(line).toMatchObject({
      status: 200,
      upstream_status: 200,
      upstream_attempts: 1,
      upstream_request_id: 'req_1',
    });
    expect(line).toHaveProperty('upstream_ms', expect.any(Number));
    expect(line).not.toHaveProperty('error_code');
  });

  it.each([
    ['dies', (response: ServerResponse) => void response.destroy(), 'provider_invalid_response', 'incomplete'],
    ['falls silent', () => undefined, 'provider_timeout', 'timeout'],
  ])('logs that the provider %s in the middle of a stream', async (_what, goOn, code, kind) => {
    const line = await lineOfStream(goOn);
    expect(line).toMatchObject({ status: 200, upstream_status: 200, upstream_attempts: 1, error_code: code });
    expect(line['error_reason']).toMatch(new RegExp(`^${kind}: `));
  });

  it('logs 499 when the client disconnects in the middle of a stream', async () => {
    const leaving = new AbortController();
    const line = await lineOfStream(() => leaving.abort(), leaving.signal);
    expect(line).toMatchObject({ status: 499, upstream_status: 200, upstream_attempts: 1 });
    expect(line).not.toHaveProperty('error_code');
  });
});
