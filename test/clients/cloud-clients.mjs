import assert from 'node:assert/strict';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';

const NOVA = '@bedrock/amazon.nova-lite-v1:0';
const FLASH = '@gemini/gemini-2.5-flash';
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

export const CLOUD_CLIENTS = [
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
