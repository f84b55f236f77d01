// Chats of OpenAI's API for Gemini's own, from a client through the gateway to a provider and back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, onlyCall, text } from './support/fake-provider.js';
import { readStream } from './support/read-stream.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { errorOf, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const BODY = { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
const GEMINI_BODY = {
  contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
  generationConfig: { maxOutputTokens: 100 },
};
const USAGE = { promptTokenCount: 20, cachedContentTokenCount: 12, candidatesTokenCount: 3, thoughtsTokenCount: 4 };
const COUNTED = { input: 8, cache_read: 12, output: 7 };
const part = (words: string, more: object = {}): object => ({
  candidates: [{ content: { role: 'model', parts: [{ text: words }] }, ...more }],
  usageMetadata: { ...USAGE, totalTokenCount: 27 },
});
const ENDED = part('Hello', { finishReason: 'STOP' });
const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
  for (const [slug, more] of Object.entries({ own: { chats: 'translate' }, compatible: {} })) {
    const config = { base_url: `${gateway.provider.url}/v1beta/openai`, ...more };
    await gateway.admin.create('/v1/virtual-keys', { name: slug, slug, provider: 'gemini', key: 'the-key', config });
  }
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

const headers = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` };

function post(key: string, more: object = {}): Promise<Answer> {
  const body = JSON.stringify({ model: `@${key}/gemini-2.5-flash`, ...BODY, ...more });
  return send(`${gateway.app.url}/v1/chat/completions`, { headers, body });
}

describe('a chat with Gemini', () => {
  it("goes to Gemini's own API where the virtual key wants it", async () => {
    gateway.provider.replyWith(json(ENDED));
    const answer = await post('own', { user: 'u' });
    expect([answer.status, jsonOf(answer)]).toEqual([
      200,
      expect.objectContaining({
        choices: [expect.objectContaining({ message: { role: 'assistant', content: 'Hello', refusal: null } })],
      }),
    ]);
    expect(answer.headers).toMatchObject({
      'x-gateway-translated': 'chat-to-gemini',
      'x-gateway-warnings': 'unsupported_parameter; param=user; provider=gemini',
    });
    const call = onlyCall(gateway.provider);
    expect([call.path, JSON.parse(call.body)]).toEqual([
      '/v1beta/models/gemini-2.5-flash:generateContent',
      GEMINI_BODY,
    ]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'chat', model: 'gemini-2.5-flash', source: 'provider', quantities: COUNTED });
  });

  it('is relayed in the form of chats where the virtual key says nothing', async () => {
    gateway.provider.replyWith(json({ choices: [] }));
    const answer = await post('compatible');
    expect([answer.status, answer.headers['x-gateway-translated']]).toEqual([200, undefined]);
    expect(onlyCall(gateway.provider).path).toBe('/v1beta/openai/chat/completions');
  });

  it('streams chunk by chunk', async () => {
    gateway.provider.replyWith(
      text(event(part('Hel')) + event(part('lo', { finishReason: 'STOP' })), 'text/event-stream'),
    );
    const body = { model: '@own/gemini-2.5-flash', ...BODY, stream: true, stream_options: { include_usage: true } };
    const read = await readStream(`${gateway.app.url}/v1/chat/completions`, headers, body);
    expect([read.status, read.end]).toEqual([200, 'whole']);
    expect(read.text).toMatch(/"content":"Hel"[^]*"content":"lo"[^]*"total_tokens":27[^]*\ndata: \[DONE\]\n\n$/);
    expect(onlyCall(gateway.provider).path).toBe('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'chat', source: 'provider', quantities: COUNTED });
  });

  it('has the errors of Google in the form of chats', async () => {
    gateway.provider.replyWith(json({ error: { code: 400, message: 'Bad.', status: 'INVALID_ARGUMENT' } }, 400));
    const answer = await post('own');
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.objectContaining({ message: 'Bad.' })]);
  });

  it('is refused under a limit by the name that its caller has for the cap', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_000 });
    const answer = await post('own', { model: '@own/a-model-that-is-not-known', max_tokens: undefined });
    expect([answer.status, errorOf(answer)]).toEqual([
      412,
      expect.objectContaining({ code: 'usage_not_bounded', param: 'max_completion_tokens' }),
    ]);
    expect(gateway.provider.calls).toEqual([]);
  });
});
