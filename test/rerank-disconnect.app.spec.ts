import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { drip, json, onlyCall, silence } from './support/fake-provider.js';
import { requestLine } from './support/request-line.js';
import { startRerankGateway, VALID, type RerankGateway } from './support/rerank-gateway.js';

let gateway: RerankGateway;
let virtualKey: string;
let leaving: AbortController;

beforeAll(async () => {
  gateway = await startRerankGateway();
  virtualKey = await gateway.virtualKey('cohere', { config: { timeout_ms: 60_000 } });
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.provider.forget();
  leaving = new AbortController();
});

/** Sends a request and disconnects when the provider has received it; resolves when the connection is closed. */
async function leaveDuringCall(traceId: string): Promise<void> {
  const headers = { 'x-gateway-trace-id': traceId };
  const answer = gateway.rerank(virtualKey, VALID, { headers, signal: leaving.signal });
  await eventually(() => gateway.provider.calls.length === 1);
  leaving.abort();
  await expect(answer).rejects.toThrow();
}

describe('a client that disconnects', () => {
  it.each([
    ['says nothing yet', silence],
    ['has begun to answer', drip(5)],
  ])('aborts the call when the client disconnects and the provider %s', async (what, reply) => {
    gateway.provider.replyWith(reply);
    await leaveDuringCall(`left-${what.replaceAll(' ', '-')}`);
    await eventually(() => onlyCall(gateway.provider).closedEarly);
  });

  it('cancels the wait for another attempt when the client disconnects', async () => {
    const before = process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    gateway.provider.replyWith(json({}, 503, { 'retry-after': '5' }));
    await leaveDuringCall('left-before-retry');
    await requestLine(gateway.app, 'left-before-retry');
    // Without a timer, nothing could start another attempt.
    await eventually(
      () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length <= before,
    );
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it('logs a disconnected client with status 499 and no error', async () => {
    gateway.provider.replyWith(silence);
    await leaveDuringCall('left-log-line');
    expect(await requestLine(gateway.app, 'left-log-line')).toMatchObject({
      level: 'info',
      route: '/v1/rerank',
      status: 499,
      virtual_key: virtualKey,
    });
    expect(gateway.app.log()).not.toContain('"event":"defect"');
  });

  it('serves the next client after a disconnect', async () => {
    gateway.provider.replyWith(json({ results: [] }));
    expect((await gateway.rerank(virtualKey, VALID)).status).toBe(200);
  });
});
