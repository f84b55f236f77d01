// Numbers in the arguments of tools that a double cannot hold, through every translation and back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { onlyCall, text } from './support/fake-provider.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

/** As a program writes doubles, whole numbers of 64 bits and more digits, and texts that look like a held number. */
const NUMBERS =
  '{"id":12345678901234567890,"near":[-9007199254740993,0.12345678901234567891,1e400],' +
  '"usual":[1,-2.5,0.30000000000000004,1e-7],"text":"7f1cb1a5-9c3f-4f0e-9b62-3f0c4d2c8f1112345678901234567890",' +
  '"digits":"12345678901234567890"}';
const ESCAPED = JSON.stringify(NUMBERS);
/** A field that is read on the way: a double. */
const SENT = '0.123456789012345678';
const SCHEMA = '{"type":"object","properties":{"id":{"type":"integer","maximum":18446744073709551615}}}';

const CHAT_CALL = `{"id":"c1","type":"function","function":{"name":"f","arguments":${ESCAPED}}}`;
const ASKED = {
  chat:
    `"max_tokens":100,"temperature":${SENT},"tools":[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}],` +
    `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[${CHAT_CALL}]},` +
    '{"role":"tool","tool_call_id":"c1","content":"R"}]',
  messages:
    `"max_tokens":100,"temperature":${SENT},"tools":[{"name":"f","input_schema":${SCHEMA}}],` +
    `"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${NUMBERS}}]},` +
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"R"}]}]',
  responses:
    `"max_output_tokens":100,"temperature":${SENT},"tools":[{"type":"function","name":"f","strict":false,"parameters":${SCHEMA}}],` +
    `"input":[{"role":"user","content":"Hi"},{"type":"function_call","call_id":"c1","name":"f","arguments":${ESCAPED}},` +
    '{"type":"function_call_output","call_id":"c1","output":"R"}]',
};
type Caller = keyof typeof ASKED;
const PATHS: Readonly<Record<Caller, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

const CHAT_USAGE = '"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}';
const MESSAGE = '"type":"message","role":"assistant","id":"msg_1","model":"m"';
const MESSAGE_USAGE = '"usage":{"input_tokens":3,"output_tokens":2}';
const RESPONSE_CALL = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":${ESCAPED},"status":"completed"}`;
const GEMINI =
  `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${NUMBERS}}}]},"finishReason":"STOP"}],` +
  '"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}}';
const ANSWERS = {
  chats: `{"id":"1","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[${CHAT_CALL}]}}],${CHAT_USAGE}}`,
  claude: `{${MESSAGE},"stop_reason":"tool_use",${MESSAGE_USAGE},"content":[{"type":"tool_use","id":"c1","name":"f","input":${NUMBERS}}]}`,
  bedrock: `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"f","input":${NUMBERS}}}]}},"stopReason":"tool_use","usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5}}`,
  own: GEMINI,
  openai: `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[${RESPONSE_CALL}],"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}`,
};
type Key = keyof typeof ANSWERS;
/** Where the arguments come as an object. */
const STREAMS: Readonly<Partial<Record<Key, string>>> = {
  chats:
    `data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":${NUMBERS}}}]}}]}\n\n` +
    `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],${CHAT_USAGE}}\n\ndata: [DONE]\n\n`,
  claude: [
    `{"type":"message_start","message":{${MESSAGE},"content":[],${MESSAGE_USAGE}}}`,
    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"f","input":${NUMBERS}}}`,
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}',
    '{"type":"message_stop"}',
  ]
    .map((data) => `data: ${data}\n\n`)
    .join(''),
  own: `data: ${GEMINI}\n\n`,
};

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
  const { url } = gateway.provider;
  const create = (slug: Key, provider: string, config: object): Promise<unknown> =>
    gateway.admin.create('/v1/virtual-keys', { name: slug, slug, provider, key: 'the-key', config });
  await create('chats', 'together', { base_url: url });
  await create('claude', 'anthropic', { base_url: url });
  await create('bedrock', 'bedrock', { base_url: url, aws_region: 'us-east-1', bedrock_endpoint: 'converse' });
  await create('own', 'gemini', { base_url: `${url}/v1beta/openai`, chats: 'translate' });
  await create('openai', 'openai', { base_url: url });
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

const PAIRS: readonly (readonly [string, Caller, Key, string?])[] = [
  ['messages-to-chat', 'messages', 'chats'],
  ['messages-to-converse', 'messages', 'bedrock'],
  ['chat-to-messages', 'chat', 'claude'],
  ['chat-to-converse', 'chat', 'bedrock'],
  ['chat-to-gemini', 'chat', 'own'],
  ['responses-to-chat', 'responses', 'chats'],
  ['responses-to-messages', 'responses', 'claude'],
  ['responses-to-converse', 'responses', 'bedrock'],
  // In the form of a response at the address of chats.
  ['responses-for-chat', 'responses', 'openai', PATHS.chat],
  ['responses-for-chat', 'responses', 'claude', PATHS.chat],
];
const STREAMED = PAIRS.filter(([, , key]) => STREAMS[key] !== undefined);

function post(caller: Caller, key: Key, path = PATHS[caller], more = ''): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` };
  return send(gateway.app.url + path, { headers, body: `{"model":"@${key}/m",${ASKED[caller]}${more}}` });
}

/** The arguments are an object in the text, or a text in it. */
function expectNumbers(body: string): void {
  const inner = ESCAPED.slice(1, -1);
  expect([body.includes(NUMBERS) || body.includes(inner), body]).toEqual([true, body]);
}

describe.each(PAIRS)('%s (%s, %s, %s)', (name, caller, key, path) => {
  it('keeps the digits of the history, the schemas and the answer', async () => {
    gateway.provider.replyWith(text(ANSWERS[key], 'application/json'));
    const answer = await post(caller, key, path);
    expect([answer.status, answer.headers['x-gateway-translated'], answer.text]).toEqual([200, name, answer.text]);
    const { body } = onlyCall(gateway.provider);
    expectNumbers(body);
    expect(body).toContain('"maximum":18446744073709551615}');
    expect(body).toMatch(/"temperature":0\.12345678901234568[,}]/);
    expectNumbers(answer.text);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ source: 'provider', quantities: { input: 3, output: 2 } });
  });
});

describe.each(STREAMED)('%s (%s, %s, %s)', (_name, caller, key, path) => {
  it('keeps the digits of arguments that come as an object in a stream', async () => {
    gateway.provider.replyWith(text(STREAMS[key] ?? '', 'text/event-stream'));
    const answer = await post(caller, key, path, ',"stream":true');
    expect(answer.status).toBe(200);
    expectNumbers(answer.text);
  });
});

it('takes no long number for a text where a text belongs', async () => {
  const body =
    '{"model":"@claude/m","max_tokens":100,"messages":[{"role":"user","content":[{"type":"text","text":12345678901234567890}]}]}';
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` };
  const answer = await send(`${gateway.app.url}${PATHS.chat}`, { headers, body });
  expect([answer.status, jsonOf(answer)]).toMatchObject([
    400,
    { error: { code: 'validation_failed', param: 'messages.0.content.0.text' } },
  ]);
  expect(gateway.provider.calls).toEqual([]);
});
