import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { half, hangUp, json, type Reply, silence, text } from './support/fake-provider.js';
import { requestLine } from './support/request-line.js';
import {
  AWS_SECRET,
  BEDROCK_MODEL,
  PROVIDER_KEY,
  startRerankGateway,
  VALID,
  type RerankGateway,
} from './support/rerank-gateway.js';
import { type Answer, jsonOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const QUERY = 'query-marker-9e4a';
const DOCUMENT = 'document-marker-31cd';
const CLIENT_TOKEN = 'client-token-marker-c8f0';
const BODY = { ...VALID, query: QUERY, documents: [DOCUMENT, { text: DOCUMENT, note: DOCUMENT }] };
/** The provider repeats everything it knows of the request, at every place from which an error could be read. */
const REPLIES: readonly (readonly [string, (echo: string) => Reply])[] = [
  ...[400, 401, 403, 404, 408, 422, 429, 498, 500, 503].map(
    (status) =>
      [
        `status ${status}`,
        (echo: string) => json({ message: echo, detail: echo, error: { message: echo, param: echo } }, status),
      ] as const,
  ),
  ['a good answer', (echo) => json({ results: [{ index: 0, relevance_score: 1, document: { text: echo } }], echo })],
  ['an error page', (echo) => text(`<h1>${echo}</h1>`, 'text/html', 502)],
  ['a web page', (echo) => text(echo, 'text/html')],
  ['the wrong shape', (echo) => json({ results: echo, [echo]: echo })],
  ['a wrong index', (echo) => json({ results: [{ index: echo, relevance_score: echo }] })],
  ['half a body', (echo) => half(JSON.stringify({ results: echo }))],
  ['a redirect', (echo) => json({}, 302, { location: `http://127.0.0.1/?echo=${encodeURIComponent(echo)}` })],
  ['a closed connection', () => hangUp],
  ['silence', () => silence],
];

let gateway: RerankGateway;
let cohere: string;
let bedrock: string;
let count = 0;

beforeAll(async () => {
  gateway = await startRerankGateway();
  const config = { timeout_ms: 400 };
  cohere = await gateway.virtualKey('cohere', { config });
  bedrock = await gateway.virtualKey('bedrock', { config });
});
afterAll(() => gateway.close());

async function rerank(virtualKey: string, body: unknown, more: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const traceId = `secrecy-${(count += 1)}`;
  const headers = { authorization: `Bearer ${CLIENT_TOKEN}`, 'x-gateway-trace-id': traceId, ...more };
  const answer = await gateway.rerank(virtualKey, body, { headers });
  await requestLine(gateway.app, traceId);
  return answer;
}

function expectNothingIn(place: string, words: readonly string[]): void {
  for (const word of words) expect(place.includes(word) ? word : 'nothing').toBe('nothing');
}

describe('the answers to a caller', () => {
  it.each(REPLIES)('never returns a credential, even when the provider repeats it: %s', async (_what, replyOf) => {
    for (const [virtualKey, model, secret] of [
      [cohere, VALID.model, PROVIDER_KEY],
      [bedrock, BEDROCK_MODEL, AWS_SECRET],
    ] as const) {
      gateway.provider.replyWith(replyOf(`bad key ${secret} for ${QUERY} and ${DOCUMENT}`));
      const answer = await rerank(virtualKey, { ...BODY, model });
      expectNothingIn(answer.text + JSON.stringify(answer.headers), [secret, ADMIN_KEY]);
    }
  });

  it("returns the provider's message with the credential masked", async () => {
    gateway.provider.replyWith(json({ message: `no such key: ${PROVIDER_KEY}.` }, 400));
    expect(jsonOf(await rerank(cohere, BODY))['error']).toMatchObject({
      code: 'provider_rejected',
      message: 'no such key: ****.',
    });
  });

  it.each([
    ['a wrong gateway key', { 'x-gateway-api-key': `${ADMIN_KEY.slice(0, -1)}?` }],
    ['the key in place of the virtual key', { 'x-gateway-virtual-key': ADMIN_KEY }],
    ['the key in a trace id that is none', { 'x-gateway-trace-id': `${ADMIN_KEY}\t${ADMIN_KEY}` }],
    ['the key as metadata that is not JSON', { 'x-gateway-metadata': `{${ADMIN_KEY}` }],
  ])('does not repeat a key in the wrong header: %s', async (_what, headers) => {
    const answer = await gateway.rerank('local', BODY, { headers });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expectNothingIn(answer.text, [ADMIN_KEY, ADMIN_KEY.slice(12, -1)]);
  });
});

describe('the log at its most detailed level', () => {
  it.each([
    ['broken JSON', `{"query":"${QUERY}","documents":["${DOCUMENT}"],`],
    ['a broken rule', { ...BODY, top_n: QUERY, documents: [DOCUMENT, 1] }],
    ['an unknown field', { ...BODY, [QUERY]: DOCUMENT }],
    ['too many documents', { ...BODY, documents: Array.from({ length: 10_001 }, () => DOCUMENT) }],
    ['a model that is not an ARN', { ...BODY, model: 'm' }],
  ])('logs a refusal at the most detailed level: %s', async (_what, body) => {
    expect((await rerank(bedrock, body)).status).toBe(400);
  });

  it('never logs keys, queries or documents', () => {
    const log = gateway.app.log();
    expect(log.split('\n').filter((line) => line.includes('"event":"request"')).length).toBeGreaterThan(REPLIES.length);
    expect(log).not.toContain('"event":"defect"');
    expectNothingIn(log, [PROVIDER_KEY, AWS_SECRET, ADMIN_KEY.slice(12, -1), CLIENT_TOKEN, QUERY, DOCUMENT]);
  });
});
