import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import FormerAnthropic from '@anthropic-ai/sdk-0';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { jsonSchema, streamText, tool } from 'ai';
import OpenAI from 'openai';

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

async function messagesRoundTrip(client, sent, expected) {
  const tools = [{ name: 'add', description: 'Adds.', input_schema: PARAMETERS }];
  const options = { model: MESSAGES_MODEL, max_tokens: 200, tools };
  const first = await client.messages.stream({ ...options, messages: [ASK] }).finalMessage();
  const call = first.content.find(({ type }) => type === 'tool_use');
  assert.deepEqual([first.stop_reason, call.input], ['tool_use', CALLED]);
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '2' }] };
  const messages = [ASK, { role: 'assistant', content: first.content }, result];
  const last = await client.messages.create({ ...options, messages });
  assert.equal(last.content[0].text, SAID);
  assert.equal(sent().headers['x-api-key'], 'provider-key');
  assert.equal(sent().headers['anthropic-version'], expected);
  assert.equal(sent().headers.authorization, undefined);
}

export const CHAT_CLIENTS = [
  {
    title: 'openai: a streamed tool call, its result, and the usage',
    run: async ({ url, key }) => {
      const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
      const tools = [{ type: 'function', function: { name: 'add', description: 'Adds.', parameters: PARAMETERS } }];
      const first = await client.chat.completions
        .stream({ model: CHAT_MODEL, messages: [ASK], tools, stream_options: { include_usage: true } })
        .finalChatCompletion();
      const [{ message }] = first.choices;
      assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), CALLED);
      assert.equal(first.usage.total_tokens, 30);
      const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: '2' };
      const last = await client.chat.completions.create({ model: CHAT_MODEL, messages: [ASK, message, result], tools });
      assert.equal(last.choices[0].message.content, SAID);
    },
  },
  {
    title: 'openai: a streamed function call of a response, and its result',
    run: async ({ url, key }) => {
      const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
      const options = { model: CHAT_MODEL, tools: [{ type: 'function', name: 'add', parameters: PARAMETERS }] };
      const first = await client.responses.stream({ ...options, input: [ASK] }).finalResponse();
      const [call] = first.output;
      assert.deepEqual([call.name, JSON.parse(call.arguments)], ['add', CALLED]);
      assert.equal(first.usage.total_tokens, 30);
      const result = { type: 'function_call_output', call_id: call.call_id, output: '2' };
      const last = await client.responses.create({ ...options, input: [ASK, call, result] });
      assert.equal(last.output_text, SAID);
    },
  },
  {
    title: 'openai: embeddings, as base64',
    run: async ({ url, key, sent }) => {
      const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
      const { data } = await client.embeddings.create({ model: '@openai/text-embedding-3-small', input: 'a' });
      assert.deepEqual([...data[0].embedding], [0.25, -0.5, 0.5, -0.25]);
      assert.equal(sent().body.encoding_format, 'base64');
    },
  },
  {
    title: 'openai: an error of the provider keeps its words, status and code',
    run: async ({ url, key }) => {
      const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
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
      return messagesRoundTrip(client, sent, '2026-10-21');
    },
  },
  {
    title: '@anthropic-ai/sdk 0: a streamed tool call and its result',
    run: ({ url, key, sent }) => {
      const client = new FormerAnthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
      return messagesRoundTrip(client, sent, '2023-06-01');
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
  {
    title: 'ai, @ai-sdk/openai-compatible: a tool round trip',
    run: ({ url, key }) => {
      const provider = createOpenAICompatible({ name: 'tollgate', apiKey: key, baseURL: `${url}/v1` });
      return aiSdkRoundTrip(provider(CHAT_MODEL));
    },
  },
  {
    title: 'ai, @ai-sdk/anthropic: a tool round trip',
    run: ({ url, key }) => aiSdkRoundTrip(createAnthropic({ apiKey: key, baseURL: `${url}/v1` })(MESSAGES_MODEL)),
  },
  {
    title: '@langchain/openai: a stream with its usage',
    run: async ({ url, key }) => {
      const model = new ChatOpenAI({ model: CHAT_MODEL, apiKey: key, configuration: { baseURL: `${url}/v1` } });
      assert.match(await streamed(model), GREETING);
    },
  },
  {
    title: '@langchain/anthropic: a stream',
    run: async ({ url, key }) => {
      const model = new ChatAnthropic({ model: MESSAGES_MODEL, apiKey: key, anthropicApiUrl: url, maxTokens: 100 });
      assert.match(await streamed(model), GREETING);
    },
  },
];

async function streamed(model) {
  let said = '';
  for await (const { text } of await model.stream('Say hello.')) said += text;
  return said;
}
