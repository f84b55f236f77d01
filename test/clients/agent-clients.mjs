import assert from 'node:assert/strict';
import { OpenAI as LlamaIndexOpenAI, OpenAIEmbedding } from '@llamaindex/openai';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';

const MODEL = '@openai/gpt-5-mini';
const QUESTION = 'What is 1 + 1?';
const GREETING = /^Hello from the scripted provider/;
const PATHS = { responses: '/v1/responses', chats: '/v1/chat/completions' };

/** Frameworks whose loops call tools themselves. */
export const AGENT_CLIENTS = [
  ...['responses', 'chats'].map((api) => ({
    title: `@openai/agents: a streamed run with a tool, by ${api}`,
    run: async ({ url, key, calls }) => {
      const sums = [];
      const add = tool({
        name: 'add',
        description: 'Adds.',
        parameters: z.object({ a: z.number(), b: z.number() }),
        execute: ({ a, b }) => sums.push(a + b) && String(a + b),
      });
      const agent = new Agent({ name: 'Adder', instructions: 'Use the tool.', model: MODEL, tools: [add] });
      const openAIClient = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
      const modelProvider = new OpenAIProvider({ openAIClient, useResponses: api === 'responses' });
      const result = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, QUESTION, { stream: true });
      await result.completed;
      assert.deepEqual([result.finalOutput, sums], ['The tool said 2.', [2]]);
      assert.deepEqual(
        calls.map(({ path, body }) => [path, body.model]),
        Array.from({ length: 2 }, () => [PATHS[api], 'gpt-5-mini']),
      );
      assert.equal(result.state.usage.totalTokens, 60);
    },
  })),
  {
    title: '@llamaindex/openai: a chat, its stream and a call of a tool',
    run: async ({ url, key }) => {
      const model = new LlamaIndexOpenAI({ model: MODEL, apiKey: key, baseURL: `${url}/v1` });
      const messages = [{ role: 'user', content: QUESTION }];
      assert.match((await model.chat({ messages })).message.content, GREETING);
      let text = '';
      for await (const { delta } of await model.chat({ messages, stream: true })) text += delta;
      assert.match(text, GREETING);
      const numbers = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
      const add = { metadata: { name: 'add', description: 'Adds.', parameters: numbers }, call: ({ a }) => a + 1 };
      const { toolCalls } = await model.exec({ messages, tools: [add] });
      assert.deepEqual(toolCalls[0].input, { a: 1 });
    },
  },
  {
    title: '@llamaindex/openai: embeddings',
    run: async ({ url, key, sent }) => {
      const settings = { model: '@openai/text-embedding-3-small', apiKey: key, baseURL: `${url}/v1` };
      const vectors = await new OpenAIEmbedding(settings).getTextEmbeddings(['one', 'two']);
      assert.deepEqual(
        vectors.map(({ length }) => length),
        [4, 4],
      );
      assert.deepEqual([sent().body.model, sent().body.input], ['text-embedding-3-small', ['one', 'two']]);
    },
  },
];
