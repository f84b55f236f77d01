// Chats of OpenAI's API for models of Anthropic, from a client through the gateway to a provider and back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, onlyCall, text } from './support/fake-provider.js';
import { readStream, type StreamRead } from './support/read-stream.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { errorOf, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const EVENTS = 'text/event-stream';
const ASK = { role: 'user', content: 'Hi' };
const BODY = { model: 'claude', max_tokens: 100, messages: [ASK] };
const USAGE = { input_tokens: 8, cache_read_input_tokens: 12, output_tokens: 7 };
const COUNTED = { input: 8, cache_read: 12, output: 7 };
const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-1' };
const MESSAGE = { ...HEAD, content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn', usage: USAGE };
const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const BEGUN =
  event('message_start', { message: { ...HEAD, content: [], usage: { ...USAGE, output_tokens: 1 } } }) +
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } });
const ENDED =
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }) +
  event('message_stop');

let gateway: UsageGateway;
let headers: Readonly<Record<string, string>>;

beforeAll(async () => {
  gateway = await startUsageGateway();
  const slug = await gateway.virtualKey('anthropic');
  const authorization = `Bearer ${ADMIN_KEY}`;
  headers = { 'content-type': 'application/json', authorization, 'x-gateway-virtual-key': slug };
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

function post(more: object = {}): Promise<Answer> {
  return send(`${gateway.app.url}/v1/chat/completions`, { headers, body: JSON.stringify({ ...BODY, ...more }) });
}

function stream(more: object = {}): Promise<StreamRead> {
  return readStream(`${gateway.app.url}/v1/chat/completions`, headers, { ...BODY, stream: true, ...more });
}

describe('a chat with a model of Anthropic', () => {
  it('is translated there and back, and is in the ledger with the figures of the provider', async () => {
    gateway.provider.replyWith(json(MESSAGE));
    const answer = await post({ seed: 1 });
    expect([answer.status, jsonOf(answer)]).toEqual([
      200,
      expect.objectContaining({
        id: 'chatcmpl-msg_1',
        choices: [expect.objectContaining({ message: { role: 'assistant', content: 'Hello', refusal: null } })],
      }),
    ]);
    expect(answer.headers).toMatchObject({
      'x-gateway-translated': 'chat-to-messages',
      'x-gateway-warnings': 'unsupported_parameter; param=seed; provider=anthropic',
    });
    const call = onlyCall(gateway.provider);
    expect([call.path, JSON.parse(call.body)]).toEqual(['/v1/messages', BODY]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'chat', model: 'claude', source: 'provider', quantities: COUNTED });
  });

  it.each([
    ['without the usage that was not asked for', {}, false],
    ['with its usage', { stream_options: { include_usage: true } }, true],
  ])('is translated chunk by chunk, %s', async (_how, more, hasUsage) => {
    gateway.provider.replyWith(text(BEGUN + ENDED, EVENTS));
    const { status, text: events, end } = await stream(more);
    expect([status, end, events.includes('"total_tokens":27')]).toEqual([200, 'whole', hasUsage]);
    expect(events).toMatch(/^data: .*"content":"Hello".*$/m);
    expect(events.endsWith('data: [DONE]\n\n')).toBe(true);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'chat', source: 'provider', quantities: COUNTED });
  });

  it('has the errors of the provider in the form of chats', async () => {
    const error = { type: 'not_found_error', message: 'No such model.' };
    gateway.provider.replyWith(json({ type: 'error', error }, 404));
    const answer = await post();
    expect([answer.status, jsonOf(answer)]).toEqual([404, { error: { ...error, param: null, code: null } }]);
  });

  it('ends a stream with an error and a cut, and no end mark, where it breaks off', async () => {
    gateway.provider.replyWith(text(BEGUN, EVENTS));
    const { text: events, end } = await stream();
    expect(end).toBe('broken');
    expect(events).toMatch(/"content":"Hello"[^]*\nevent: error\ndata: \{"error":.*\n\n$/);
    expect(events).not.toContain('[DONE]');
  });

  it('is refused with the field that cannot be translated, before anything is sent', async () => {
    const answer = await post({ n: 2 });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.objectContaining({ code: 'unsupported_parameter', param: 'n' }),
    ]);
    expect(gateway.provider.calls).toEqual([]);
  });
});
