// Responses and completions, from a client through the gateway to a provider and back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from './support/eventually.js';
import { json, onlyCall, type Reply, text } from './support/fake-provider.js';
import { plainly, type Ask } from './support/openai-client.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const USAGE = { input_tokens: 9, input_tokens_details: { cached_tokens: 4 }, output_tokens: 5, total_tokens: 14 };
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
    },
  ],
  usage: USAGE,
};
const ANSWER = JSON.stringify(RESPONSE).replace('"usage"', '"x": 1.50, "usage"');

let gateway: UsageGateway;
let slug: string;
let ask: Ask;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('openai-compatible');
  ask = plainly(gateway, slug);
  client = new OpenAI({ baseURL: `${gateway.app.url}/v1`, apiKey: ADMIN_KEY, maxRetries: 0 });
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(text(ANSWER, 'application/json'));
});
afterAll(() => gateway.close());

function events(...list: readonly { readonly type: string; readonly [field: string]: unknown }[]): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of list) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
}

describe('a stored response', () => {
  it('comes as the stream of its events, from the one that the client has', async () => {
    const created = { type: 'response.output_text.delta', sequence_number: 3, delta: 'lo' };
    const completed = { type: 'response.completed', sequence_number: 4, response: RESPONSE };
    gateway.provider.replyWith(events(created, completed));
    const stored = new OpenAI({
      baseURL: `${gateway.app.url}/v1`,
      apiKey: ADMIN_KEY,
      defaultHeaders: { 'x-gateway-virtual-key': slug },
    });
    const stream = await stored.responses.retrieve('resp_1', { stream: true, starting_after: 2 });
    const seen: string[] = [];
    for await (const { type } of stream) seen.push(type);
    expect(seen).toEqual([created.type, completed.type]);
    expect(onlyCall(gateway.provider).path).toMatch(/\/responses\/resp_1\?stream=true&starting_after=2$/);
  });

  it('comes with several further fields, and so does its input', async () => {
    const stored = new OpenAI({
      baseURL: `${gateway.app.url}/v1`,
      apiKey: ADMIN_KEY,
      defaultHeaders: { 'x-gateway-virtual-key': slug },
    });
    const include: OpenAI.Responses.ResponseIncludable[] = ['file_search_call.results', 'reasoning.encrypted_content'];
    const asked = 'include%5B%5D=file_search_call.results&include%5B%5D=reasoning.encrypted_content';
    gateway.provider.replyWith(json(RESPONSE));
    await stored.responses.retrieve('resp_1', { include });
    expect(onlyCall(gateway.provider).path).toContain(`/responses/resp_1?${asked}`);
    gateway.provider.forget();
    gateway.provider.replyWith(json({ object: 'list', data: [], has_more: false }));
    await stored.responses.inputItems.list('resp_1', { include });
    expect(onlyCall(gateway.provider).path).toMatch(/\/responses\/resp_1\/input_items\?/);
    expect(onlyCall(gateway.provider).path).toContain(asked);
    gateway.provider.forget();
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'x-gateway-virtual-key': slug };
    for (const query of ['include[]=a&include[]=%20', 'include[]=', 'include[]=a&'.repeat(33)]) {
      const answer = await fetch(`${gateway.app.url}/v1/responses/resp_1?${query}`, { headers });
      expect([query, answer.status]).toEqual([query, 400]);
      expect(await answer.text()).toContain('include[]');
    }
    expect(gateway.provider.calls).toEqual([]);
  });

  it.each(['/v1', '', '/openai/v1'])('is read, cancelled and deleted below %j', async (prefix) => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'x-gateway-virtual-key': slug };
    const calls: [string, string, object][] = [
      ['GET', '', RESPONSE],
      ['GET', '/input_items', { object: 'list', data: [], has_more: false }],
      ['POST', '/cancel', RESPONSE],
      ['DELETE', '', { id: 'resp_1', object: 'response', deleted: true }],
    ];
    for (const [method, path, reply] of calls) {
      gateway.provider.forget();
      gateway.provider.replyWith(json(reply));
      const answer = await fetch(`${gateway.app.url}${prefix}/responses/resp_1${path}`, { method, headers });
      expect([method, path, answer.status]).toEqual([method, path, 200]);
      expect(onlyCall(gateway.provider).path).toContain(`/responses/resp_1${path}`);
    }
  });

  it('breaks off with its provider, and has another form than a stream refused', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: response.created\ndata: {}\n\n', () => setTimeout(() => response.destroy(), 20));
    });
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'x-gateway-virtual-key': slug };
    const url = `${gateway.app.url}/v1/responses/resp_1`;
    const answer = await fetch(`${url}?stream=true`, { headers });
    await expect(answer.text()).rejects.toThrow();
    for (const query of ['stream=yes', 'starting_after=-1', 'unknown=1']) {
      expect((await fetch(`${url}?${query}`, { headers })).status).toBe(400);
    }
  });
});

describe('a response', () => {
  it.each(['/v1/responses', '/responses', '/openai/v1/responses'])(
    'passes byte for byte at %s, and is in the ledger',
    async (path) => {
      const body = '{"model":"m", "input":[{"role":"user","content":"\\u00e9"}],"store":false,"x":1.50}';
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${ADMIN_KEY}`,
        'x-gateway-virtual-key': slug,
      };
      const answer = await send(gateway.app.url + path, { headers, body });
      expect([answer.status, answer.text]).toEqual([200, ANSWER]);
      const call = onlyCall(gateway.provider);
      expect([call.path.endsWith('/responses'), call.body]).toEqual([true, body]);
      const [row] = await gateway.books.ledger(1);
      expect(row).toMatchObject({ endpoint: 'responses', quantities: { input: 5, cache_read: 4, output: 5 } });
    },
  );

  it('passes what clients say about a request, and no credential', async () => {
    const headers = {
      'openai-beta': 'responses=v2',
      'x-client-request-id': 'r-1',
      session_id: 's-1',
      'x-codex-turn-metadata': '{}',
      'idempotency-key': 'i-1',
      'openai-organization': 'org-other',
      cookie: 'a=b',
      'x-stainless-lang': 'js',
    };
    await ask('POST', '/responses', { body: { model: 'm', input: 'x' }, headers });
    const sent = onlyCall(gateway.provider).headers;
    expect(sent).toMatchObject({
      'openai-beta': 'responses=v2',
      'x-client-request-id': 'r-1',
      session_id: 's-1',
      'x-codex-turn-metadata': '{}',
      'idempotency-key': 'i-1',
    });
    for (const name of ['openai-organization', 'cookie', 'x-stainless-lang', 'x-gateway-api-key'])
      expect(sent).not.toHaveProperty([name]);
  });

  it.each([
    [{ session_id: 's-1' }, 's-1'],
    [{ 'x-claude-code-session-id': 's-2' }, 's-2'],
    [{ 'x-gateway-session': 's-3', session_id: 's-1' }, 's-3'],
    [{ session_id: 's-1', 'x-gateway-metadata': '{"session":"own"}' }, 'own'],
    [{ session_id: 'x'.repeat(200) }, undefined],
  ])('can be limited by the session of an agent: %j', async (headers, session) => {
    await ask('POST', '/responses', { body: { model: 'm', input: 'x' }, headers: { ...headers } });
    const [row] = await gateway.books.ledger(1);
    expect(row?.metadata['session']).toBe(session);
  });

  it('streams through the official SDK', async () => {
    gateway.provider.replyWith(
      events(
        { type: 'response.created', sequence_number: 0, response: { ...RESPONSE, status: 'in_progress', usage: null } },
        { type: 'response.output_text.delta', sequence_number: 1, item_id: 'msg_1', output_index: 0, delta: 'Hi' },
        { type: 'response.completed', sequence_number: 2, response: RESPONSE },
      ),
    );
    const stream = await client.responses.create({ model: `@${slug}/m`, input: 'Hello', stream: true });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(['response.created', 'response.output_text.delta', 'response.completed']);
    expect(JSON.parse(onlyCall(gateway.provider).body)).toEqual({ model: 'm', input: 'Hello', stream: true });
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ source: 'provider', quantities: { output: 5 } });
  });

  it.each([
    [{ model: 'm', input: 'x' }, 'max_output_tokens'],
    [{ model: 'm', input: 'x', max_output_tokens: 9, tools: [{ type: 'web_search' }] }, 'tools'],
    [{ model: 'm', input: 'x', max_output_tokens: 9, previous_response_id: 'resp_0' }, 'previous_response_id'],
    [{ model: 'm', input: 'x', max_output_tokens: 9, conversation: 'conv_0' }, 'conversation'],
    [{ model: 'm', input: [{ type: 'item_reference', id: 'msg_0' }], max_output_tokens: 9 }, 'input'],
    [{ model: 'm', input: 'x', max_output_tokens: 9, background: true }, 'background'],
  ])('is refused under a usage limit when it has no bound: %j', async (body, param) => {
    await gateway.limit({ conditions: [{ key: 'endpoint', value: 'responses' }], type: 'tokens', credit_limit: 1e6 });
    const answer = await ask('POST', '/responses', { body });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('needs a model', async () => {
    expect(refusalOf(await ask('POST', '/responses', { body: { input: 'x' } }))).toMatchObject({
      status: 400,
      param: 'model',
    });
  });
});

describe('a completion', () => {
  const COMPLETION = {
    id: 'cmpl-1',
    object: 'text_completion',
    created: 1,
    model: 'm',
    choices: [{ text: ' world', index: 0, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
  };

  it('reaches the official SDK, and the ledger', async () => {
    gateway.provider.replyWith(text(JSON.stringify(COMPLETION), 'application/json'));
    const { choices } = await client.completions.create({ model: `@${slug}/m`, prompt: 'Hello', suffix: '!' });
    expect(choices[0]?.text).toBe(' world');
    expect(onlyCall(gateway.provider).path).toMatch(/\/completions$/);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'completions', quantities: { input: 2, output: 1 } });
  });

  it('counts the output of each of its prompts', async () => {
    await gateway.limit({ conditions: [{ key: 'endpoint', value: 'completions' }], type: 'tokens', credit_limit: 500 });
    const body = { model: 'm', prompt: ['one', 'two', 'three'], max_tokens: 150 };
    expect(refusalOf(await ask('POST', '/completions', { body }))).toMatchObject({
      status: 412,
      code: 'usage_limit_exceeded',
    });
    gateway.provider.replyWith(text(JSON.stringify(COMPLETION), 'application/json'));
    expect((await ask('POST', '/completions', { body: { ...body, prompt: 'one' } })).status).toBe(200);
  });
});

describe('operations beside a response', () => {
  it.each([
    '/v1/responses',
    '/v1/realtime?model=gpt-5',
    '/responses',
    '/realtime',
    '/openai/v1/responses',
    '/openai/v1/realtime',
  ])('are not offered as a WebSocket: %s', async (path) => {
    const headers = { connection: 'Upgrade', upgrade: 'WebSocket', 'sec-websocket-version': '13' };
    const answer = await gateway.admin.get(path, headers);
    expect(refusalOf(answer)).toMatchObject({ status: 426, code: 'upgrade_not_offered' });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('have their methods without it', async () => {
    expect(refusalOf(await ask('GET', '/responses'))).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });

  const COUNT = '{"object":"response.input_tokens", "input_tokens":11}';

  it('counts tokens for nothing', async () => {
    gateway.provider.replyWith(text(COUNT, 'application/json'));
    const answer = await ask('POST', '/responses/input_tokens', { body: { model: `m`, input: 'x' } });
    expect([answer.status, answer.text]).toEqual([200, COUNT]);
    expect(onlyCall(gateway.provider).path).toMatch(/\/responses\/input_tokens$/);
    expect(await gateway.books.ledger(0)).toEqual([]);
  });

  it('compacts, and charges it', async () => {
    gateway.provider.replyWith(text(JSON.stringify({ id: 'resp_2', output: [], usage: USAGE }), 'application/json'));
    expect((await ask('POST', '/responses/compact', { body: { model: 'm', input: 'x' } })).status).toBe(200);
    expect(onlyCall(gateway.provider).path).toMatch(/\/responses\/compact$/);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'responses', quantities: { input: 5, output: 5 } });
  });

  it('does not compact under a usage limit with a model whose output has no known bound', async () => {
    await gateway.limit({ conditions: [{ key: 'endpoint', value: 'responses' }], type: 'tokens', credit_limit: 1e6 });
    const answer = await ask('POST', '/responses/compact', { body: { model: 'm', input: 'x', max_output_tokens: 5 } });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param: 'model' });
  });
});

describe('responses of isolated workspaces', () => {
  let strict: string;
  const keys: string[] = [];

  beforeAll(async () => {
    strict = await gateway.virtualKey('openai-compatible', { config: { isolation: 'strict' } });
    for (const slug of ['response-team-a', 'response-team-b']) {
      await ask('POST', '/workspaces', { body: { name: slug, slug } });
      const key = { name: slug, workspace_id: slug, scopes: ['completions.write'] };
      keys.push(String(jsonOf(await ask('POST', '/api-keys', { body: key }))['key']));
    }
  });

  function as(team: number, method: string, path: string, body?: unknown): Promise<Answer> {
    return ask(method, path, { body, headers: { 'x-gateway-api-key': keys[team], 'x-gateway-virtual-key': strict } });
  }

  it.each([
    ['whole', false],
    ['streamed', true],
  ])('are read, continued and deleted by their own workspace alone: %s', async (form, stream) => {
    const id = `resp_${form}`;
    const done = { ...RESPONSE, id };
    gateway.provider.replyWith(
      stream
        ? events({ type: 'response.created', response: done }, { type: 'response.completed', response: done })
        : text(JSON.stringify(done), 'application/json'),
    );
    expect((await as(0, 'POST', '/responses', { model: 'm', input: 'x', stream })).status).toBe(200);
    gateway.provider.replyWith(text(JSON.stringify({ ...done, object: 'response' }), 'application/json'));
    await eventually(async () => (await as(0, 'GET', `/responses/${id}`)).status === 200);
    expect((await as(0, 'POST', '/responses', { model: 'm', previous_response_id: id })).status).toBe(200);
    gateway.provider.forget();
    for (const [method, path, body] of [
      ['GET', `/responses/${id}`, undefined],
      ['GET', `/responses/${id}/input_items`, undefined],
      ['POST', `/responses/${id}/cancel`, {}],
      ['DELETE', `/responses/${id}`, undefined],
      ['POST', '/responses', { model: 'm', previous_response_id: id }],
      ['POST', '/responses/input_tokens', { model: 'm', previous_response_id: id }],
      ['POST', '/chat/completions', { model: 'm', messages: [{ content: [{ file: { file_id: 'file-of-a' } }] }] }],
      ['POST', '/responses', { model: 'm', input: [{ type: 'item_reference', id: 'msg_of_a' }] }],
      ['POST', '/responses', { model: 'm', tools: [{ environment: { container_id: 'cntr_of_a' } }] }],
      ['POST', '/responses', { model: 'm', input: [{ type: 'code_interpreter_call', container_id: 'cntr_of_a' }] }],
    ] as const) {
      expect(refusalOf(await as(1, method, path, body))).toMatchObject({ status: 404, code: 'not_found' });
    }
    // As a provider that ignores case may read it.
    expect(refusalOf(await as(1, 'POST', '/responses', { model: 'm', Previous_Response_ID: id }))).toMatchObject({
      status: 400,
      code: 'validation_failed',
    });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('refuse a body that is too much to check, and say so', async () => {
    const body = { model: 'm', input: Array.from({ length: 200_001 }, () => []) };
    const { status, text: answer } = await as(0, 'POST', '/responses', body);
    expect([status, answer]).toEqual([400, expect.stringContaining('has too many lists, objects or fields')]);
    expect(gateway.provider.calls).toEqual([]);
  });

  it('refuse a field that comes twice: the provider might read the other one', async () => {
    const body = Buffer.from('{"model":"m","input":[{"file_id":"file-of-b","file_id":null}]}');
    expect(refusalOf(await as(0, 'POST', '/responses', body))).toMatchObject({
      status: 400,
      code: 'validation_failed',
    });
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('a key that may use certain models', () => {
  it.each([{ models: ['other'] }, { fallbacks: [{ model: 'other' }] }])(
    'cannot name others to turn to: %j',
    async (more) => {
      const created = await ask('POST', '/api-keys', {
        body: { name: 'restricted', level: 'organisation', scopes: ['completions.write'], allowed_models: ['m'] },
      });
      const headers = { 'x-gateway-api-key': String(jsonOf(created)['key']) };
      expect((await ask('POST', '/responses', { body: { model: 'm', input: 'x' }, headers })).status).toBe(200);
      const answer = await ask('POST', '/responses', { body: { model: 'm', input: 'x', ...more }, headers });
      expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'model_not_allowed' });
    },
  );
});
