// Clients of OpenAI's and Anthropic's APIs on models that are at Bedrock's Converse alone.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { converseEvents, cutFrames, exceptionFrame, frames } from './support/bedrock-streams.js';
import { json, onlyCall, text } from './support/fake-provider.js';
import { readStream, type StreamRead } from './support/read-stream.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const MODEL = 'meta.llama3-3-70b-instruct-v1:0';
const USAGE = { inputTokens: 9, outputTokens: 5, totalTokens: 14 };
const ANSWER = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
  stopReason: 'end_turn',
  usage: USAGE,
};
const CALL = { toolUse: { toolUseId: 'tooluse_1', name: 'add' } };
const WORD = converseEvents(
  { messageStart: { role: 'assistant' } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hello' } } },
);
const STREAM = Buffer.concat([
  WORD,
  converseEvents(
    { contentBlockStop: { contentBlockIndex: 0 } },
    { contentBlockStart: { contentBlockIndex: 1, start: CALL } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"a":1}' } } } },
    { contentBlockStop: { contentBlockIndex: 1 } },
    { messageStop: { stopReason: 'tool_use' } },
    { metadata: { usage: USAGE, metrics: { latencyMs: 1 } } },
  ),
]);
const BODY = { model: MODEL, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };

let gateway: UsageGateway;
let slug: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('bedrock', { config: { bedrock_endpoint: 'converse' } });
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.replyWith((response, call) =>
    (call.path.endsWith('-stream') ? frames(STREAM) : json(ANSWER))(response, call),
  );
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

const headers = (): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  authorization: `Bearer ${ADMIN_KEY}`,
  'x-gateway-virtual-key': slug,
});
const post = (path: string, body: object): Promise<Answer> =>
  send(gateway.app.url + path, { headers: headers(), body: JSON.stringify(body) });
const stream = (more: object = {}): Promise<StreamRead> =>
  readStream(`${gateway.app.url}/v1/messages`, headers(), { ...BODY, stream: true, ...more });

describe('a model of Bedrock', () => {
  it('answers a message of Anthropic', async () => {
    const answer = await post('/v1/messages', { ...BODY, metadata: { user_id: 'u' } });
    expect(jsonOf(answer)).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'Hello' }], model: MODEL });
    expect(answer.headers).toMatchObject({
      'x-gateway-translated': 'messages-to-converse',
      'x-gateway-warnings': 'unsupported_parameter; param=metadata; provider=bedrock',
    });
    const call = onlyCall(gateway.provider);
    expect(call.path).toBe(`/model/${encodeURIComponent(MODEL)}/converse`);
    expect(JSON.parse(call.body)).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 100 },
    });
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'messages', model: MODEL, quantities: { input: 9, output: 5 } });
  });

  it('gives Claude the betas that Bedrock knows, and names that others are left out', async () => {
    const model = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
    const betas = 'interleaved-thinking-2025-05-14, skills-2025-10-02';
    const answer = await send(`${gateway.app.url}/v1/messages`, {
      headers: { ...headers(), 'anthropic-beta': betas },
      body: JSON.stringify({ ...BODY, model, stop_sequences: ['END'], output_config: { effort: 'low' } }),
    });
    expect([answer.status, answer.headers['x-gateway-warnings']]).toEqual([
      200,
      'unsupported_parameter; param=anthropic-beta; provider=bedrock',
    ]);
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject({
      additionalModelRequestFields: {
        output_config: { effort: 'low' },
        anthropic_beta: ['interleaved-thinking-2025-05-14'],
      },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    });
  });

  it('streams a message of Anthropic, as server-sent events', async () => {
    const read = await stream();
    expect([read.status, read.end, read.headers['content-type']]).toEqual([200, 'whole', 'text/event-stream']);
    expect(read.text).toContain('event: message_stop\n');
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'messages', outcome: 'answered', quantities: { input: 9, output: 5 } });
  });

  it('streams a chat with a tool call to the SDK of OpenAI', async () => {
    const client = new OpenAI({ baseURL: `${gateway.app.url}/v1`, apiKey: ADMIN_KEY, maxRetries: 0 });
    const completion = await client.chat.completions
      .stream({
        model: `@${slug}/${MODEL}`,
        messages: [{ role: 'user', content: 'Hi' }],
        tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }],
        stream_options: { include_usage: true },
      })
      .finalChatCompletion();
    const [choice] = completion.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Hello', tool_calls: [{ id: 'tooluse_1', function: { name: 'add', arguments: '{"a":1}' } }] },
    });
    expect(completion.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 5 });
  });

  it('answers a response of OpenAI', async () => {
    const answer = await post('/v1/responses', { model: MODEL, input: 'Hi', store: false });
    expect([answer.status, answer.headers['x-gateway-translated']]).toEqual([200, 'responses-to-converse']);
    expect(answer.text).toContain('Hello');
  });

  it('counts no tokens beforehand, so that clients estimate', async () => {
    expect((await post('/v1/messages/count_tokens', BODY)).status).toBe(404);
  });
});

describe('a failure of Bedrock', () => {
  it('has the words of Bedrock in the form of the caller', async () => {
    gateway.provider.replyWith(
      text('{"message":"Input is too long for requested model."}', 'application/json', 400, {
        'x-amzn-errortype': 'ValidationException',
      }),
    );
    expect(jsonOf(await post('/v1/messages', BODY))['error']).toEqual({
      type: 'invalid_request_error',
      message: 'prompt is too long: Input is too long for requested model.',
    });
    const chat = await post('/v1/chat/completions', BODY);
    expect([chat.status, jsonOf(chat)['error']]).toEqual([
      400,
      expect.objectContaining({ code: 'context_length_exceeded' }),
    ]);
  });

  it.each([
    ['an exception', frames(Buffer.concat([WORD, exceptionFrame('throttlingException', 'Slow down')]))],
    ['a cut', cutFrames(WORD)],
  ])('ends a stream by %s with an error event and a cut connection', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    const read = await stream();
    expect(read.end).toBe('broken');
    expect(read.text).toMatch(/event: error\ndata: .*\n\n$/);
    expect(read.text).not.toContain('message_stop');
  });

  it('hands the call to a target that speaks chats', async () => {
    const other = await gateway.virtualKey('openai', { path: '/v1' });
    await gateway.admin.create('/v1/model-routes', {
      name: 'any',
      targets: [
        { virtual_key: slug, model: MODEL },
        { virtual_key: other, model: 'gpt', order: 1 },
      ],
    });
    gateway.provider.replyWith((response, call) => {
      const chat = { choices: [{ message: { content: 'Chat' }, finish_reason: 'stop' }], usage: {} };
      const refused = json({ message: 'Later' }, 503, { 'x-amzn-errortype': 'ServiceUnavailableException' });
      (call.path.startsWith('/model/') ? refused : json(chat))(response, call);
    });
    const { 'x-gateway-virtual-key': _left, ...own } = headers();
    const body = JSON.stringify({ model: 'any', messages: BODY.messages });
    const answer = await send(`${gateway.app.url}/v1/chat/completions`, { headers: own, body });
    expect([answer.status, answer.headers['x-gateway-translated']]).toEqual([200, undefined]);
    expect(answer.text).toContain('Chat');
  });
});

describe('a usage limit', () => {
  it('refuses a call that does not fit, before Bedrock gets it', async () => {
    await gateway.limit({ conditions: [{ key: 'endpoint', value: 'messages' }], type: 'tokens', credit_limit: 50 });
    const answer = await post('/v1/messages', BODY);
    expect([answer.status, gateway.provider.calls.length]).toEqual([412, 0]);
  });
});
