import assert from 'node:assert/strict';
import OpenAI, { toFile } from 'openai';
import { Portkey } from 'portkey-ai';

const NEW_BATCH = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' };

async function idsOf(pages) {
  const ids = [];
  for await (const { id } of pages) ids.push(id);
  return ids;
}

export const OPENAI_CLIENTS = [
  {
    title: 'openai: batches, with an address and a key only',
    run: async ({ url, openaiKey, sent }) => {
      const client = new OpenAI({ apiKey: openaiKey, baseURL: `${url}/v1`, maxRetries: 0 });
      assert.equal((await idsOf(client.batches.list({ limit: 20 }))).length, 45);
      assert.equal((await client.batches.create(NEW_BATCH)).id, 'batch_new');
      assert.deepEqual([sent().headers.authorization, sent().body], ['Bearer provider-key', NEW_BATCH]);
    },
  },
  {
    title: 'openai: an upload, with an address and a key only',
    run: async ({ url, openaiKey, sent }) => {
      const client = new OpenAI({ apiKey: openaiKey, baseURL: `${url}/v1`, maxRetries: 0 });
      const file = await toFile(Buffer.from('{"custom_id":"1"}\n'), 'in.jsonl');
      assert.equal((await client.files.create({ file, purpose: 'batch' })).id, 'file-1');
      assert.match(sent().body, /"custom_id":"1"/);
    },
  },
  {
    title: 'openai: all files of a server that pages by 20 and leaves has_more out',
    run: async ({ url, openaiKey, calls }) => {
      const client = new OpenAI({ apiKey: openaiKey, baseURL: `${url}/v1`, maxRetries: 0 });
      const ids = await idsOf(client.files.list());
      assert.deepEqual([ids.length, new Set(ids).size, calls.length], [145, 145, 9]);
    },
  },
  {
    title: 'openai: a fine-tuning job whose model has the virtual key before it',
    run: async ({ url, key, sent }) => {
      const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
      const job = { model: '@openai/gpt-4o-mini', training_file: 'file-1' };
      assert.equal((await client.fineTuning.jobs.create(job)).id, 'ftjob-1');
      assert.equal(sent().body.model, 'gpt-4o-mini');
    },
  },
  {
    title: "openai: a refusal of the gateway is the client's own error",
    run: async ({ url, key }) => {
      const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
      await assert.rejects(
        client.batches.list(),
        ({ status, code }) => status === 400 && code === 'virtual_key_required',
      );
    },
  },
  {
    title: 'portkey-ai: batches, with its own headers',
    run: async ({ url, key, sent }) => {
      const client = new Portkey({ apiKey: key, baseURL: `${url}/v1`, virtualKey: 'openai' });
      const page = await client.batches.list({ limit: 20 });
      assert.equal(page.data.length, 20);
      assert.equal((await client.batches.create(NEW_BATCH)).id, 'batch_new');
      assert.deepEqual(
        Object.keys(sent().headers).filter((name) => name.startsWith('x-portkey')),
        [],
      );
    },
  },
  {
    title: 'portkey-ai: a key of a workspace',
    run: async ({ url, key }) => {
      const client = new Portkey({ apiKey: key, baseURL: `${url}/v1` });
      const place = { type: 'workspace', 'sub-type': 'service', workspace_id: 'default' };
      const created = await client.apiKeys.create({
        ...place,
        name: 'made by a client',
        scopes: ['completions.write'],
      });
      assert.match(created.key, /^tg_/);
    },
  },
  {
    title: 'portkey-ai: a chat with a config, whose first target has no chats',
    run: async ({ url, key, sent }) => {
      const targets = [{ virtual_key: 'voyage' }, { provider: '@openai', override_params: { model: 'gpt-5-mini' } }];
      const config = { strategy: { mode: 'fallback' }, retry: { attempts: 2 }, targets };
      const client = new Portkey({ apiKey: key, baseURL: `${url}/v1`, config });
      const ask = { model: 'any', messages: [{ role: 'user', content: 'Hello' }] };
      const { choices } = await client.chat.completions.create(ask);
      assert.match(choices[0].message.content, /^Hello from the scripted provider/);
      assert.deepEqual([sent().body.model, sent().headers['x-portkey-config']], ['gpt-5-mini', undefined]);
      let text = '';
      for await (const chunk of await client.chat.completions.create({ ...ask, stream: true }))
        text += chunk.choices[0]?.delta?.content ?? '';
      assert.match(text, /^Hello from the scripted provider/);
      const foreign = new Portkey({ apiKey: key, baseURL: `${url}/v1`, config: { api_key: 'x', provider: 'openai' } });
      await assert.rejects(foreign.chat.completions.create(ask), ({ status }) => status === 400);
    },
  },
];
