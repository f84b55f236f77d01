// Calls of models whose clients compress their bodies.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { zstdFrame } from '../src/common/http/__fixtures__/zstd-frames.js';
import { json, onlyCall } from './support/fake-provider.js';
import { type Answer, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const MAX_BYTES = 64 * 1024;
const TEXT = '{"model":"m", "messages":[{"role":"user","content":"Hello"}],"max_tokens":5}';
const ANSWER = { id: 'c-1', object: 'chat.completion', choices: [], usage: { prompt_tokens: 9, completion_tokens: 5 } };

let gateway: UsageGateway;
let slug: string;

beforeAll(async () => {
  gateway = await startUsageGateway({ INFERENCE_MAX_BODY_BYTES: String(MAX_BYTES) });
  slug = await gateway.virtualKey('openai-compatible');
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(json(ANSWER));
});
afterAll(() => gateway.close());

function ask(body: Buffer, coding: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return send(`${gateway.app.url}/v1/chat/completions`, {
    headers: {
      'content-type': 'application/json',
      'content-encoding': coding,
      'x-gateway-api-key': ADMIN_KEY,
      'x-gateway-virtual-key': slug,
      ...headers,
    },
    body,
  });
}

describe('a compressed body', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['zstd', zstdFrame(TEXT)],
    ['deflate, gzip', gzipSync(deflateSync(TEXT))],
  ])('in %s goes on as it came, and is metered', async (coding, body) => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_000 });
    expect((await ask(body, coding)).status).toBe(200);
    const call = onlyCall(gateway.provider);
    expect(call.headers).toMatchObject({ 'content-encoding': coding, 'content-length': String(body.length) });
    expect(call.bytes?.equals(body)).toBe(true);
    expect(await gateway.books.ledger(1)).toMatchObject([{ quantities: { input: 9, output: 5 } }]);
  });

  it('goes on as plain JSON where the gateway changes it', async () => {
    const body = TEXT.replace('"m"', `"@${slug}/m"`);
    expect((await ask(gzipSync(body), 'gzip')).status).toBe(200);
    const call = onlyCall(gateway.provider);
    expect(call.headers['content-encoding']).toBeUndefined();
    expect(call.body).toBe(TEXT);
  });

  it('counts for limits with what it decodes to', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_000 });
    const refused = refusalOf(await ask(gzipSync(TEXT.replace('Hello', 'o'.repeat(2_000))), 'gzip'));
    expect(refused).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(gateway.provider.calls).toEqual([]);
  });

  it.each([
    ['in another coding', gzipSync(TEXT), 'compress', 415, 'unsupported_media_type'],
    ['in three codings', gzipSync(gzipSync(gzipSync(TEXT))), 'gzip, gzip, gzip', 415, 'unsupported_media_type'],
    ['that is not in its coding', Buffer.from(TEXT), 'gzip', 400, 'validation_failed'],
    ['that ends too early', gzipSync(TEXT).subarray(0, -9), 'gzip', 400, 'validation_failed'],
    ['that decodes to no JSON', gzipSync('{'), 'gzip', 400, 'validation_failed'],
    ['that decodes to too much', gzipSync(' '.repeat(MAX_BYTES + 1)), 'gzip', 413, 'payload_too_large'],
  ])('is refused %s', async (_what, body, coding, status, code) => {
    const answer = await ask(body, coding);
    expect(refusalOf(answer)).toMatchObject({ status, code });
    if (status === 415) expect(answer.headers['accept-encoding']).toBe('gzip, deflate, br, zstd');
    expect(gateway.provider.calls).toEqual([]);
  });
});
