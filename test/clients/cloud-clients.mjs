import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import OpenAI from 'openai';

const NOVA = '@bedrock/amazon.nova-lite-v1:0';
const FLASH = '@gemini/gemini-2.5-flash';
const VERTEX_CLAUDE = '@vertex/claude-sonnet-4-5@20250929';
const SAID = 'Hello from the cloud.';
const ASK = [{ role: 'user', content: [{ text: 'Hello' }] }];

/** As its users would set it up, but for HTTP/2, which it speaks by default. */
const bedrock = (url, key) =>
  new BedrockRuntimeClient({
    endpoint: url,
    region: 'us-east-1',
    token: { token: key },
    authSchemePreference: ['httpBearerAuth'],
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
const google = (url, key) => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });

/** It asks for headers what else would ask Google for a token. */
const anthropicOfVertex = (url, key) =>
  new AnthropicVertex({
    baseURL: `${url}/v1`,
    projectId: 'any-project',
    region: 'global',
    authClient: { getRequestHeaders: async () => new Headers({ authorization: `Bearer ${key}` }) },
  });

async function messagesRoundTrip(client) {
  const options = { model: VERTEX_CLAUDE, max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };
  const answer = await client.messages.create(options);
  assert.deepEqual([answer.content[0].text, answer.usage.output_tokens], [SAID, 10]);
  const streamed = await client.messages.stream(options).finalMessage();
  assert.deepEqual([streamed.content[0].text, streamed.usage.output_tokens], [SAID, 10]);
  const { max_tokens: _cap, ...counted } = options;
  assert.equal((await client.messages.countTokens(counted)).input_tokens, 20);
}

export const CLOUD_CLIENTS = [
  {
    title: '@anthropic-ai/sdk on Vertex: messages, a stream, a count of tokens',
    async run({ url, key, sent }) {
      await messagesRoundTrip(new Anthropic({ baseURL: url, apiKey: key }));
      assert.equal(sent().headers.authorization, 'Bearer ya29.client');
    },
  },
  {
    title: '@anthropic-ai/vertex-sdk: messages, a stream, a count of tokens',
    async run({ url, key, sent }) {
      await messagesRoundTrip(anthropicOfVertex(url, key));
      assert.equal(sent().headers.authorization, 'Bearer ya29.client');
    },
  },
  {
    title: '@anthropic-ai/vertex-sdk reads the errors of the gateway',
    async run({ url }) {
      const options = { model: VERTEX_CLAUDE, max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };
      const call = anthropicOfVertex(url, 'tg_nobody').messages.create(options);
      await assert.rejects(call, { status: 401, type: 'authentication_error' });
    },
  },
  {
    title: 'openai on Vertex: chats with Gemini, and with Claude translated',
    async run({ url, key, sent }) {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
      for (const model of ['@vertex/gemini-2.5-flash', VERTEX_CLAUDE]) {
        const messages = [{ role: 'user', content: 'Hello' }];
        const answer = await client.chat.completions.create({ model, max_tokens: 50, messages });
        assert.deepEqual([answer.choices[0].message.content, answer.usage.total_tokens], [SAID, 30]);
      }
      assert.equal(sent().headers.authorization, 'Bearer ya29.client');
    },
  },
  {
    title: '@google/genai on Vertex: generateContent and its stream, countTokens, errors',
    async run({ url, key, sent }) {
      const { models } = new GoogleGenAI({ vertexai: true, apiKey: key, httpOptions: { baseUrl: url } });
      const asked = { model: '@vertex/gemini-2.5-flash', contents: 'Hello' };
      assert.equal((await models.generateContent(asked)).text, SAID);
      assert.equal(sent().headers.authorization, 'Bearer ya29.client');
      let said = '';
      for await (const chunk of await models.generateContentStream(asked)) said += chunk.text ?? '';
      assert.equal(said, SAID);
      assert.equal((await models.countTokens(asked)).totalTokens, 20);
      await assert.rejects(models.generateContent({ ...asked, model: '@nobody/m' }), { name: 'ApiError', status: 404 });
    },
  },
  {
    title: '@aws-sdk/client-bedrock-runtime, Converse',
    async run({ url, key, sent }) {
      const answer = await bedrock(url, key).send(new ConverseCommand({ modelId: NOVA, messages: ASK }));
      assert.equal(answer.output.message.content[0].text, SAID);
      assert.equal(answer.usage.totalTokens, 30);
      assert.match(sent().headers.authorization, /^AWS4-HMAC-SHA256 /);
    },
  },
  {
    title: '@aws-sdk/client-bedrock-runtime, ConverseStream',
    async run({ url, key }) {
      const { stream } = await bedrock(url, key).send(new ConverseStreamCommand({ modelId: NOVA, messages: ASK }));
      const events = [];
      for await (const event of stream) events.push(event);
      assert.equal(events.map((event) => event.contentBlockDelta?.delta.text ?? '').join(''), SAID);
      assert.equal(events.at(-1).metadata.usage.totalTokens, 30);
    },
  },
  {
    title: '@aws-sdk/client-bedrock-runtime, InvokeModel and its stream',
    async run({ url, key }) {
      const input = { modelId: NOVA, body: JSON.stringify({ inferenceConfig: { maxTokens: 20 }, messages: ASK }) };
      const answer = await bedrock(url, key).send(new InvokeModelCommand(input));
      assert.equal(JSON.parse(Buffer.from(answer.body).toString()).said, SAID);
      const { body } = await bedrock(url, key).send(new InvokeModelWithResponseStreamCommand(input));
      const chunks = [];
      for await (const { chunk } of body) chunks.push(JSON.parse(Buffer.from(chunk.bytes).toString()));
      assert.equal(chunks[0].said, SAID);
    },
  },
  {
    title: '@aws-sdk/client-bedrock-runtime reads the errors of the gateway',
    async run({ url, key }) {
      const call = (client, modelId) => client.send(new ConverseCommand({ modelId, messages: ASK }));
      await assert.rejects(call(bedrock(url, key), '@nobody/m'), { name: 'ResourceNotFoundException' });
      await assert.rejects(call(bedrock(url, 'tg_nobody'), NOVA), { name: 'AccessDeniedException' });
    },
  },
  {
    title: '@google/genai, generateContent and its stream',
    async run({ url, key, sent }) {
      const { models } = google(url, key);
      const answer = await models.generateContent({ model: FLASH, contents: 'Hello' });
      assert.equal(answer.text, SAID);
      assert.equal(sent().headers['x-goog-api-key'], 'provider-key');
      let said = '';
      for await (const chunk of await models.generateContentStream({ model: FLASH, contents: 'Hello' }))
        said += chunk.text ?? '';
      assert.equal(said, SAID);
    },
  },
  {
    title: '@google/genai, countTokens and embedContent',
    async run({ url, key }) {
      const { models } = google(url, key);
      assert.equal((await models.countTokens({ model: FLASH, contents: 'Hello' })).totalTokens, 20);
      const { embeddings } = await models.embedContent({ model: FLASH, contents: ['Hello'] });
      assert.deepEqual(embeddings[0].values, [0.5]);
    },
  },
  {
    title: '@google/genai reads the errors of the gateway',
    async run({ url, key }) {
      const call = (model) => google(url, key).models.generateContent({ model, contents: 'Hello' });
      await assert.rejects(call('@nobody/m'), { name: 'ApiError', status: 404 });
    },
  },
];
