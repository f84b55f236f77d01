import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { eventually } from './support/eventually.js';
import { cursorPages, runs } from './support/fake-openai.js';
import { half, json, onlyCall, type Reply, text } from './support/fake-provider.js';
import { type Ask, openaiClient, plainly } from './support/openai-client.js';
import { PROVIDER_KEY, type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const THREAD = 'thread_abc123';
const RUNS = `/threads/${THREAD}/runs`;
const INCLUDE = 'step_details.tool_calls[*].file_search.results[*].content';

let gateway: RerankGateway;
let slug: string;
let ask: Ask;

beforeAll(async () => {
  gateway = await startRerankGateway();
  slug = await gateway.virtualKey('openai-compatible', { path: '/v1' });
  ask = plainly(gateway, slug);
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

const threads = () => openaiClient(gateway, slug).beta.threads;

describe('one run', () => {
  it.each([
    ['50', '50'],
    ['999999999', '999999999'],
    ['1000000000', undefined],
    ['soon', undefined],
    ['-1', undefined],
  ])("forwards the provider's poll interval to the SDK: %s", async (given, passed) => {
    const run = { id: 'run_1', object: 'thread.run', status: 'in_progress' };
    gateway.provider.replyWith(json(run, 200, { 'openai-poll-after-ms': given }));
    const answer = await ask('GET', `${RUNS}/run_1`);
    expect([answer.status, jsonOf(answer), answer.headers['openai-poll-after-ms']]).toEqual([200, run, passed]);
  });
});

describe('the list of runs', () => {
  it.each([
    ['asc', 7],
    ['desc', 100],
    [undefined, 20],
  ] as const)('lists each of 250 runs once, order %s, pages of %i', async (order, limit) => {
    const all = runs(250);
    gateway.provider.replyWith(cursorPages(all));
    const seen: string[] = [];
    for await (const run of threads().runs.list(THREAD, { limit, order })) seen.push(run.id);
    const ids = all.map((run) => run.id);
    expect(seen).toEqual(order === 'asc' ? ids.toReversed() : ids);
    expect(gateway.provider.calls).toHaveLength(Math.ceil(250 / limit));
  });

  it('requests a list of runs with default parameters and returns it byte for byte', async () => {
    const body =
      '{ "object":"list",\n "data":[{"id":"run_1","zzz":1.50}], "has_more":false, "first_id":"a", "last_id":"b" }';
    gateway.provider.replyWith(text(body, 'application/json'));
    const answer = await ask('GET', RUNS, { headers: { 'content-type': 'application/json' } });
    expect([answer.status, answer.headers['content-type'], answer.text]).toEqual([200, 'application/json', body]);
    expect(onlyCall(gateway.provider)).toMatchObject({ method: 'GET', path: `/v1${RUNS}?limit=20&order=desc` });
  });

  it('fills in the ids that a server leaves out', async () => {
    const list = { object: 'list', data: [{ id: 'run_1' }, { id: 'run_2' }], has_more: true };
    gateway.provider.replyWith(json(list));
    const answer = await ask('GET', RUNS);
    expect(jsonOf(answer)).toEqual({ ...list, first_id: 'run_1', last_id: 'run_2' });
  });

  it('forwards every parameter of a list of runs', async () => {
    gateway.provider.replyWith(cursorPages([]));
    await ask('GET', `${RUNS}?limit=100&order=asc&after=run_1&before=run_9`);
    const { searchParams } = new URL(onlyCall(gateway.provider).path, gateway.provider.url);
    expect(Object.fromEntries(searchParams)).toEqual({ limit: '100', order: 'asc', after: 'run_1', before: 'run_9' });
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=0x10', 'limit'],
    ['constructor=1', 'constructor'],
    ['__proto__=1', '__proto__'],
    ['limit=101', 'limit'],
    ['limit=2.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['order=newest', 'order'],
    ['order=ASC', 'order'],
    ['order=', 'order'],
    ['after=', 'after'],
    ['after=a&after=b', 'after'],
    ['after=a%00', 'after'],
    ['before=', 'before'],
    ['before=a%0d%0a', 'before'],
    ['run_id=run_1', 'run_id'],
  ])('refuses ?%s without calling the provider', async (query, param) => {
    const refusal = refusalOf(await ask('GET', `${RUNS}?${query}`));
    expect(refusal).toEqual({ status: 400, code: 'validation_failed', param, source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('the header with the protocol version', () => {
  it.each(['Provider-Beta', 'OpenAI-Beta'])('sends the header %s to the provider as OpenAI-Beta', async (name) => {
    gateway.provider.replyWith(cursorPages([]));
    await ask('GET', RUNS, { headers: { [name]: 'assistants=v2' } });
    const { headers } = onlyCall(gateway.provider);
    expect(headers['openai-beta']).toBe('assistants=v2');
    expect(headers).not.toHaveProperty('provider-beta');
    expect(headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
    expect(JSON.stringify(headers)).not.toContain(ADMIN_KEY);
  });

  it('prefers Provider-Beta when both headers are sent', async () => {
    gateway.provider.replyWith(cursorPages([]));
    await ask('GET', RUNS, { headers: { 'Provider-Beta': 'assistants=v2', 'OpenAI-Beta': 'assistants=v1' } });
    expect(onlyCall(gateway.provider).headers['openai-beta']).toBe('assistants=v2');
  });

  it.each([{}, { 'Provider-Beta': '' }, { 'OpenAI-Beta': '' }])(
    'sends no OpenAI-Beta when the client sends none: %j',
    async (headers) => {
      gateway.provider.replyWith(cursorPages([]));
      expect((await ask('GET', RUNS, { headers })).status).toBe(200);
      expect(onlyCall(gateway.provider).headers).not.toHaveProperty('openai-beta');
    },
  );

  it.each(['x'.repeat(257), 'caf\u00e9'])('refuses a malformed Provider-Beta header (%#)', async (value) => {
    const refusal = refusalOf(await ask('GET', RUNS, { headers: { 'Provider-Beta': value } }));
    expect(refusal).toEqual({ status: 400, code: 'validation_failed', param: 'Provider-Beta', source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('the other routes of the protocol through the official SDK', () => {
  it('forwards every other route with the same path and body', async () => {
    gateway.provider.replyWith(json({ id: 'x', object: 'thing', data: [], has_more: false }));
    const { messages, runs: run } = threads();
    const of = { thread_id: THREAD };
    const one = { thread_id: THREAD, run_id: 'run_1' };
    await threads().create({ metadata: { a: 'b' } });
    await threads().retrieve(THREAD);
    await threads().update(THREAD, { metadata: {} });
    await threads().delete(THREAD);
    await messages.create(THREAD, { role: 'user', content: 'hello' });
    await messages.list(THREAD, { run_id: 'run_1' });
    await messages.retrieve('msg_1', of);
    await messages.update('msg_1', { ...of, metadata: {} });
    await messages.delete('msg_1', of);
    await run.create(THREAD, { assistant_id: 'asst_1', include: [INCLUDE] });
    await threads().createAndRun({ assistant_id: 'asst_1' });
    await run.retrieve('run_1', of);
    await run.update('run_1', { ...of, metadata: {} });
    await run.cancel('run_1', of);
    await run.submitToolOutputs('run_1', { ...of, tool_outputs: [{ tool_call_id: 'call_1', output: '7' }] });
    await run.steps.list('run_1', { ...of, include: [INCLUDE] });
    await run.steps.retrieve('step_1', { ...one, include: [INCLUDE] });
    const include = `include%5B%5D=${encodeURIComponent(INCLUDE)}`;
    const page = 'limit=20&order=desc';
    expect(gateway.provider.calls.map(({ method, path, body }) => `${method} ${path} ${body}`.trim())).toEqual([
      'POST /v1/threads {"metadata":{"a":"b"}}',
      `GET /v1/threads/${THREAD}`,
      `POST /v1/threads/${THREAD} {"metadata":{}}`,
      `DELETE /v1/threads/${THREAD}`,
      `POST /v1/threads/${THREAD}/messages {"role":"user","content":"hello"}`,
      `GET /v1/threads/${THREAD}/messages?${page}&run_id=run_1`,
      `GET /v1/threads/${THREAD}/messages/msg_1`,
      `POST /v1/threads/${THREAD}/messages/msg_1 {"metadata":{}}`,
      `DELETE /v1/threads/${THREAD}/messages/msg_1`,
      `POST /v1${RUNS}?${include} {"assistant_id":"asst_1"}`,
      'POST /v1/threads/runs {"assistant_id":"asst_1"}',
      `GET /v1${RUNS}/run_1`,
      `POST /v1${RUNS}/run_1 {"metadata":{}}`,
      `POST /v1${RUNS}/run_1/cancel`,
      `POST /v1${RUNS}/run_1/submit_tool_outputs {"tool_outputs":[{"tool_call_id":"call_1","output":"7"}]}`,
      `GET /v1${RUNS}/run_1/steps?${page}&${include}`,
      `GET /v1${RUNS}/run_1/steps/step_1?${include}`,
    ]);
    expect(new Set(gateway.provider.calls.map((call) => call.headers['openai-beta']))).toEqual(
      new Set(['assistants=v2']),
    );
  });

  it.each([
    ['GET', `${RUNS}/run_1/steps?include[]=everything`],
    ['GET', `${RUNS}/run_1/steps/step_1?include[]=everything`],
    ['POST', `${RUNS}?include[]=everything`],
  ])('refuses an unknown include value: %s %s', async (method, path) => {
    const refusal = refusalOf(await ask(method, path, method === 'POST' ? { body: {} } : {}));
    expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: 'include[]' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('a run whose answer is a stream', () => {
  /** A provider that sends each event when the test says so. */
  function told(): { readonly reply: Reply; readonly say: (event: string, data: object) => void; end(): void } {
    let open: ServerResponse | undefined;
    const say = (event: string, data: object): void => {
      open?.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    };
    const reply: Reply = (response) => {
      open = response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      say('thread.run.created', { id: 'run_1' });
    };
    return { reply, say, end: () => open?.end('event: done\ndata: [DONE]\n\n') };
  }

  it.each(['create', 'createAndRun', 'submitToolOutputs'] as const)(
    'forwards a run stream event by event: %s',
    async (which) => {
      const provider = told();
      gateway.provider.replyWith(provider.reply);
      const stream = await {
        create: () => threads().runs.create(THREAD, { assistant_id: 'asst_1', stream: true }),
        createAndRun: () => threads().createAndRun({ assistant_id: 'asst_1', stream: true }),
        submitToolOutputs: () =>
          threads().runs.submitToolOutputs('run_1', { thread_id: THREAD, tool_outputs: [], stream: true }),
      }[which]();
      const events = stream[Symbol.asyncIterator]();
      // No further event was sent: a gateway that buffers events would wait here without end.
      expect((await events.next()).value).toEqual({ event: 'thread.run.created', data: { id: 'run_1' } });
      provider.say('thread.run.completed', { id: 'run_1', status: 'completed' });
      expect((await events.next()).value).toMatchObject({ event: 'thread.run.completed' });
      provider.end();
      expect((await events.next()).done).toBe(true);
      expect(onlyCall(gateway.provider).body).toContain('"stream":true');
    },
  );

  it("closes the provider's connection when the client disconnects from a stream", async () => {
    gateway.provider.replyWith(told().reply);
    const stream = await threads().runs.create(THREAD, { assistant_id: 'asst_1', stream: true });
    await stream[Symbol.asyncIterator]().next();
    stream.controller.abort();
    await eventually(() => onlyCall(gateway.provider).closedEarly);
  });

  it('breaks the stream when the provider breaks it off', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: a\ndata: {}\n\n', () => response.destroy());
    });
    await expect(ask('POST', RUNS, { body: { stream: true } })).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('forwards the headers that describe the stream, and drops all others', async () => {
    const headers = { 'set-cookie': 'session=1', 'x-provider': 'secret', server: 'provider' };
    gateway.provider.replyWith(text('data: [DONE]\n\n', 'text/event-stream', 200, headers));
    const answer = await ask('POST', RUNS, { body: { stream: true } });
    expect([answer.headers['content-type'], answer.text]).toEqual(['text/event-stream', 'data: [DONE]\n\n']);
    for (const name of Object.keys(headers)) expect(answer.headers).not.toHaveProperty(name);
  });

  it('returns complete JSON when the provider answers with JSON', async () => {
    gateway.provider.replyWith(json({ id: 'run_1', object: 'thread.run' }));
    expect((await ask('POST', RUNS, { body: { assistant_id: 'asst_1' } })).text).toBe(
      '{"id":"run_1","object":"thread.run"}',
    );
    gateway.provider.replyWith(half('{"id":"run_1","object":"thread.run"}'));
    expect(refusalOf(await ask('POST', RUNS, { body: {} }))).toMatchObject({ status: 502, source: 'provider' });
  });

  it("returns an error with the provider's own message when it refuses a stream", async () => {
    gateway.provider.replyWith(json({ error: { message: 'no such assistant', param: 'assistant_id' } }, 400));
    const answer = await ask('POST', RUNS, { body: { stream: true } });
    const error = {
      message: 'no such assistant',
      code: 'provider_rejected',
      param: 'assistant_id',
      source: 'provider',
    };
    expect(jsonOf(answer)).toMatchObject({ error });
  });
});

describe('a provider that has retired the Assistants API', () => {
  const NOTICE = {
    deprecation: '@1756166400',
    sunset: 'Wed, 26 Aug 2026 00:00:00 GMT',
    link: '<https://platform.openai.com/docs/deprecations>; rel="sunset"',
  };
  const gone = json({ error: { message: 'Unknown request URL', code: 'unknown_url' } }, 404);

  it.each(['openai', 'azure-openai'])('forwards the 404 with a deprecation notice: %s', async (provider) => {
    gateway.provider.replyWith(gone);
    const answer = await plainly(gateway, await gateway.virtualKey(provider))('GET', RUNS);
    expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'provider_rejected', source: 'provider' });
    expect(jsonOf(answer)).toMatchObject({ error: { message: 'Unknown request URL' } });
    expect(answer.headers).toMatchObject(NOTICE);
  });

  it.each([
    ['another server of the protocol', 'openai-compatible', RUNS, gone],
    ['another area', 'openai', '/batches', gone],
    ['a success', 'openai', RUNS, cursorPages([])],
    ['another refusal', 'openai', RUNS, json({ error: { message: 'bad' } }, 400)],
    ['a failure', 'openai', RUNS, json({}, 410)],
    ['a refused credential', 'openai', RUNS, json({}, 401)],
  ])('adds no deprecation notice for %s', async (_what, provider, path, reply) => {
    gateway.provider.replyWith(reply);
    const answer = await plainly(gateway, await gateway.virtualKey(provider))('GET', path);
    for (const name of Object.keys(NOTICE)) expect(answer.headers).not.toHaveProperty(name);
  });

  it.each(['bedrock', 'cohere', 'local'])('returns provider_not_supported for runs at %s', async (provider) => {
    const virtualKey = provider === 'local' ? 'local' : await gateway.virtualKey(provider);
    const answer = await plainly(gateway, virtualKey)('GET', RUNS);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'provider_not_supported', source: 'gateway' });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});
