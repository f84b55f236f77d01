import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import FormerAnthropic from '@anthropic-ai/sdk-0';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { embed, jsonSchema, streamText, tool } from 'ai';
import OpenAI from 'openai';
import FormerOpenAI from 'openai-6';

const CHAT_MODEL = '@openai/gpt-5-mini';
const MESSAGES_MODEL = '@anthropic/claude-sonnet-5';
const ASK = { role: 'user', content: 'What is 1 + 1?' };
const PARAMETERS = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
};
/** What the model calls the tool with, says after its result, and says without tools. */
const CALLED = { a: 1, b: 1 };
const SAID = 'The tool said 2.';
const GREETING = /^Hello from the scripted provider\..* at a time\.$/;

async function aiSdkRoundTrip(model) {
  const sums = [];
  const add = tool({
    description: 'Adds.',
    inputSchema: jsonSchema(PARAMETERS),
    execute: (input) => sums.push(input) && input.a + input.b,
  });
  const { text } = streamText({ model, messages: [ASK], tools: { add }, stopWhen: ({ steps }) => steps.length === 2 });
  assert.equal(await text, SAID);
  assert.deepEqual(sums, [CALLED]);
}

async function relayedMessages(client, sent, expected) {
  await messagesRoundTrip(client, MESSAGES_MODEL);
  assert.equal(sent().headers['x-api-key'], 'provider-key');
  assert.equal(sent().headers['anthropic-version'], expected);
  assert.equal(sent().headers.authorization, undefined);
}

async function messagesRoundTrip(client, model) {
  const tools = [{ name: 'add', description: 'Adds.', input_schema: PARAMETERS }];
  const options = { model, max_tokens: 200, tools };
  const first = await client.messages.stream({ ...options, messages: [ASK] }).finalMessage();
  const call = first.content.find(({ type }) => type === 'tool_use');
  assert.deepEqual([first.stop_reason, call.input], ['tool_use', CALLED]);
  assert.deepEqual([first.usage.input_tokens, first.usage.output_tokens], [20, 10]);
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '2' }] };
  const messages = [ASK, { role: 'assistant', content: first.content }, result];
  const last = await client.messages.create({ ...options, messages });
  assert.equal(last.content[0].text, SAID);
}

async function chatRoundTrip(client, model = CHAT_MODEL) {
  const tools = [{ type: 'function', function: { name: 'add', description: 'Adds.', parameters: PARAMETERS } }];
  const first = await client.chat.completions
    .stream({ model, messages: [ASK], tools, stream_options: { include_usage: true } })
    .finalChatCompletion();
  const [{ message }] = first.choices;
  assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), CALLED);
  assert.equal(first.usage.total_tokens, 30);
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: '2' };
  const last = await client.chat.completions.create({ model, messages: [ASK, message, result], tools });
  assert.equal(last.choices[0].message.content, SAID);
}

async function responseRoundTrip(client, model = CHAT_MODEL) {
  const options = { model, tools: [{ type: 'function', name: 'add', parameters: PARAMETERS }] };
  const first = await client.responses.stream({ ...options, input: [ASK] }).finalResponse();
  const [call] = first.output;
  assert.deepEqual([call.name, JSON.parse(call.arguments)], ['add', CALLED]);
  assert.equal(first.usage.total_tokens, 30);
  const result = { type: 'function_call_output', call_id: call.call_id, output: '2' };
  const last = await client.responses.create({ ...options, input: [ASK, call, result] });
  assert.equal(last.output_text, SAID);
}

/** What reads a stream that breaks off, with each client. */
const READERS = [
  ...[OpenAI, FormerOpenAI].flatMap((Client, index) => [
    {
      client: `openai ${7 - index}, a chat`,
      read: ({ url, key }) => readAll(openaiWith(Client, url, key).chat.completions, CHAT),
    },
    {
      client: `openai ${7 - index}, a response`,
      read: ({ url, key }) => readAll(openaiWith(Client, url, key).responses, RESPONSE),
    },
  ]),
  ...[Anthropic, FormerAnthropic].map((Client, index) => ({
    client: `@anthropic-ai/sdk ${1 - index}`,
    read: ({ url, key }) => readAll(new Client({ apiKey: key, baseURL: url, maxRetries: 0 }).messages, MESSAGE),
  })),
  {
    client: 'openai 7, a response of a model of Anthropic',
    read: ({ url, key }) => readAll(openaiWith(OpenAI, url, key).responses, { ...RESPONSE, model: MESSAGE.model }),
  },
  {
    client: '@anthropic-ai/sdk 1, on a model that speaks chats alone',
    read: ({ url, key }) =>
      readAll(new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 }).messages, { ...MESSAGE, model: CHAT.model }),
  },
  { client: 'ai, @ai-sdk/openai', read: ({ url, key }) => readText(aiOpenai(url, key)(CHAT.model)) },
  { client: 'ai, @ai-sdk/openai-compatible', read: ({ url, key }) => readText(aiCompatible(url, key)(CHAT.model)) },
  { client: 'ai, @ai-sdk/anthropic', read: ({ url, key }) => readText(aiAnthropic(url, key)(MESSAGE.model)) },
  { client: '@langchain/openai', read: ({ url, key }) => streamed(langchainOpenai(url, key, CHAT.model)) },
  { client: '@langchain/anthropic', read: ({ url, key }) => streamed(langchainAnthropic(url, key, MESSAGE.model)) },
];
const CHAT = { model: '@openai/breaks-off', messages: [ASK] };
const RESPONSE = { model: '@openai/breaks-off', input: [ASK] };
const MESSAGE = { model: '@anthropic/breaks-off', max_tokens: 20, messages: [ASK] };

const openaiWith = (Client, url, key) => new Client({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
const aiOpenai = (url, key) => createOpenAI({ apiKey: key, baseURL: `${url}/v1` });
const aiCompatible = (url, key) => createOpenAICompatible({ name: 'tollgate', apiKey: key, baseURL: `${url}/v1` });
const aiAnthropic = (url, key) => createAnthropic({ apiKey: key, baseURL: `${url}/v1` });

function langchainOpenai(url, key, model) {
  return new ChatOpenAI({ model, apiKey: key, configuration: { baseURL: `${url}/v1` }, maxRetries: 0 });
}

function langchainAnthropic(url, key, model) {
  return new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: url, maxTokens: 100, maxRetries: 0 });
}

async function readAll(resource, request) {
  const events = [];
  for await (const event of await resource.create({ ...request, stream: true })) events.push(event);
  return events;
}

async function readText(model) {
  let failure;
  const { fullStream } = streamText({
    model,
    messages: [ASK],
    maxRetries: 0,
    onError: ({ error }) => (failure = error),
  });
  for await (const part of fullStream) if (part.type === 'error') failure = part.error;
  if (failure !== undefined) throw failure;
}

export const CHAT_CLIENTS = [
  ...[OpenAI, FormerOpenAI].flatMap((Client, index) => [
    {
      title: `openai ${7 - index}: a streamed tool call, its result, and the usage`,
      run: ({ url, key }) => chatRoundTrip(openaiWith(Client, url, key)),
    },
    {
      title: `openai ${7 - index}: a streamed function call of a response, and its result`,
      run: ({ url, key }) => responseRoundTrip(openaiWith(Client, url, key)),
    },
  ]),
  ...READERS.map(({ client, read }) => ({
    title: `${client}: a stream that breaks off is an error`,
    run: async (context) => {
      await assert.rejects(read(context), Error);
      assert.deepEqual(
        context.calls.map(({ body }) => [body.model, body.stream]),
        [['breaks-off', true]],
      );
    },
  })),
  {
    title: 'openai and @anthropic-ai/sdk: the models that the key can name',
    run: async ({ url, key }) => {
      const named = async (models) => {
        const ids = [];
        for await (const { id } of models) ids.push(id);
        return ids;
      };
      const openai = await named(openaiWith(OpenAI, url, key).models.list());
      const anthropic = await named(new Anthropic({ apiKey: key, baseURL: url }).models.list());
      assert.ok(openai.includes(CHAT_MODEL) && openai.includes('@anthropic/claude-sonnet-5'), openai.join(' '));
      assert.deepEqual(anthropic, openai);
    },
  },
  {
    title: 'openai: embeddings, as base64',
    run: async ({ url, key, sent }) => {
      const client = openaiWith(OpenAI, url, key);
      const { data } = await client.embeddings.create({ model: '@openai/text-embedding-3-small', input: 'a' });
      assert.deepEqual([...data[0].embedding], [0.25, -0.5, 0.5, -0.25]);
      assert.equal(sent().body.encoding_format, 'base64');
    },
  },
  {
    title: 'openai: an error of the provider keeps its words, status and code',
    run: async ({ url, key }) => {
      const client = openaiWith(OpenAI, url, key);
      await assert.rejects(
        client.chat.completions.create({ model: '@openai/unknown', messages: [ASK] }),
        ({ status, code, message }) =>
          status === 404 && code === 'model_not_found' && message.includes('No such model'),
      );
    },
  },
  {
    title: '@anthropic-ai/sdk 1: a streamed tool call and its result',
    run: ({ url, key, sent }) => {
      const client = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
      return relayedMessages(client, sent, '2026-10-21');
    },
  },
  {
    title: '@anthropic-ai/sdk 0: a streamed tool call and its result',
    run: ({ url, key, sent }) => {
      const client = new FormerAnthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
      return relayedMessages(client, sent, '2023-06-01');
    },
  },
  {
    title: "@anthropic-ai/sdk: a refusal of the gateway is the client's own error",
    run: async ({ url, key }) => {
      const client = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
      await assert.rejects(
        client.messages.create({ model: '@nowhere/claude', max_tokens: 5, messages: [ASK] }),
        ({ status, error }) => status === 404 && error.error.type === 'not_found_error',
      );
      const stranger = new Anthropic({ apiKey: `${key.slice(0, -1)}_`, baseURL: url, maxRetries: 0 });
      await assert.rejects(
        stranger.messages.create({ model: MESSAGES_MODEL, max_tokens: 5, messages: [ASK] }),
        (error) => error instanceof Anthropic.AuthenticationError,
      );
    },
  },
  ...[Anthropic, FormerAnthropic].map((Client, index) => ({
    title: `@anthropic-ai/sdk ${1 - index}: a tool round trip on a model that speaks chats alone`,
    run: async ({ url, key, calls }) => {
      await messagesRoundTrip(new Client({ apiKey: key, baseURL: url, maxRetries: 0 }), CHAT_MODEL);
      assertSentTo(calls, '/v1/chat/completions');
    },
  })),
  ...[
    ['of Anthropic', MESSAGES_MODEL, '/v1/messages'],
    ['that speaks chats alone', '@gemini/gemini-2.5-flash', '/v1/chat/completions'],
  ].flatMap(([which, model, path]) => [
    ...[OpenAI, FormerOpenAI].map((Client, index) => ({
      title: `openai ${7 - index}: a streamed function call of a response, and its result, on a model ${which}`,
      run: async ({ url, key, calls }) => {
        await responseRoundTrip(openaiWith(Client, url, key), model);
        assertSentTo(calls, path);
      },
    })),
    {
      title: `ai, @ai-sdk/openai: a tool round trip with a response on a model ${which}`,
      run: async ({ url, key, calls }) => {
        await aiSdkRoundTrip(aiOpenai(url, key)(model));
        assertSentTo(calls, path);
      },
    },
  ]),
  ...[OpenAI, FormerOpenAI].map((Client, index) => ({
    title: `openai ${7 - index}: a streamed tool call of a chat, its result, and the usage, on a model of Anthropic`,
    run: async ({ url, key, calls }) => {
      await chatRoundTrip(openaiWith(Client, url, key), MESSAGES_MODEL);
      assertSentTo(calls, '/v1/messages');
    },
  })),
  {
    title: 'ai and @langchain/openai: a chat with a model of Anthropic',
    run: async ({ url, key, calls }) => {
      await aiSdkRoundTrip(aiCompatible(url, key)(MESSAGES_MODEL));
      assertSentTo(calls, '/v1/messages');
      assert.match(await streamed(langchainOpenai(url, key, MESSAGES_MODEL)), GREETING);
    },
  },
  {
    title: 'ai, @ai-sdk/anthropic: a tool round trip on a model that speaks chats alone',
    run: async ({ url, key, calls }) => {
      await aiSdkRoundTrip(aiAnthropic(url, key)(CHAT_MODEL));
      assertSentTo(calls, '/v1/chat/completions');
    },
  },
  {
    title: 'ai, @ai-sdk/openai: a tool round trip with a response, and with a chat',
    run: async ({ url, key }) => {
      await aiSdkRoundTrip(aiOpenai(url, key)(CHAT_MODEL));
      await aiSdkRoundTrip(aiOpenai(url, key).chat(CHAT_MODEL));
    },
  },
  {
    title: 'ai, @ai-sdk/openai: embeddings',
    run: async ({ url, key }) => {
      const model = aiOpenai(url, key).embedding('@openai/text-embedding-3-small');
      const { embedding } = await embed({ model, value: 'a' });
      assert.deepEqual(embedding, [0.25, -0.5, 0.5, -0.25]);
    },
  },
  {
    title: 'ai, @ai-sdk/openai-compatible: a tool round trip',
    run: ({ url, key }) => aiSdkRoundTrip(aiCompatible(url, key)(CHAT_MODEL)),
  },
  {
    title: 'ai, @ai-sdk/anthropic: a tool round trip',
    run: ({ url, key }) => aiSdkRoundTrip(aiAnthropic(url, key)(MESSAGES_MODEL)),
  },
  {
    title: '@langchain/openai: a stream with its usage',
    run: async ({ url, key }) => assert.match(await streamed(langchainOpenai(url, key, CHAT_MODEL)), GREETING),
  },
  {
    title: '@langchain/anthropic: a stream',
    run: async ({ url, key }) => assert.match(await streamed(langchainAnthropic(url, key, MESSAGES_MODEL)), GREETING),
  },
];

/** Two calls, in the dialect of the provider. */
function assertSentTo(calls, path) {
  assert.deepEqual(
    calls.map((call) => call.path),
    [path, path],
  );
}

async function streamed(model) {
  let said = '';
  for await (const { text } of await model.stream('Say hello.')) said += text;
  return said;
}
