import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from './support/eventually.js';
import { onlyCall } from './support/fake-provider.js';
import { openaiClient, plainly } from './support/openai-client.js';
import { readStream } from './support/read-stream.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { refusalOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const THREAD = 'thread_abc123';
const RUNS = `/threads/${THREAD}/runs`;
const CREATED = 'event: thread.run.created\ndata: {"id":"run_1"}\n\n';
const COMPLETED = 'event: thread.run.completed\ndata: {"id":"run_1"}\n\nevent: done\ndata: [DONE]\n\n';

let gateway: RerankGateway;

function startGateway(settings?: Readonly<Record<string, string>>): void {
  beforeAll(async () => {
    gateway = await startRerankGateway(settings);
  });
  beforeEach(() => gateway.provider.forget());
  afterAll(() => gateway.close());
}

function virtualKey(timeoutMs: number): Promise<string> {
  return gateway.virtualKey('openai-compatible', { path: '/v1', config: { timeout_ms: timeoutMs } });
}

async function events(slug: string): Promise<AsyncIterator<OpenAI.Beta.AssistantStreamEvent>> {
  const { runs } = openaiClient(gateway, slug).beta.threads;
  return (await runs.create(THREAD, { assistant_id: 'asst_1', stream: true }))[Symbol.asyncIterator]();
}

describe('the timeout of a virtual key', () => {
  startGateway();

  it('does not end the stream of a run that is silent beyond the timeout', async () => {
    const timeoutMs = 2_000;
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(CREATED);
      setTimeout(() => response.end(COMPLETED), timeoutMs + 500);
    });
    const run = await events(await virtualKey(timeoutMs));
    expect((await run.next()).value).toMatchObject({ event: 'thread.run.created' });
    expect((await run.next()).value).toMatchObject({ event: 'thread.run.completed' });
    expect((await run.next()).done).toBe(true);
  });

  it('limits the wait for the start of a stream', async () => {
    gateway.provider.replyWith(() => undefined);
    const answer = await plainly(gateway, await virtualKey(200))('POST', RUNS, { body: { stream: true } });
    expect(refusalOf(answer)).toMatchObject({ status: 504, code: 'provider_timeout', source: 'provider' });
    expect(answer.headers['x-should-retry']).toBe('false');
    await eventually(() => onlyCall(gateway.provider).closedEarly);
  });

  it('limits the silence of a file of any type', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(CREATED);
    });
    const download = plainly(gateway, await virtualKey(1_000))('GET', '/files/file-1/content');
    await expect(download).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('a run stream that is silent for longer than PROVIDER_STREAM_IDLE_MS', () => {
  startGateway({ PROVIDER_STREAM_IDLE_MS: '1000' });

  it('ends a silent stream with an error that the official SDK throws', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(CREATED);
    });
    const run = await events(await virtualKey(1_000));
    expect((await run.next()).value).toMatchObject({ event: 'thread.run.created' });
    const error = await run.next().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ code: 'provider_timeout', type: 'provider_error' });
    await eventually(() => onlyCall(gateway.provider).closedEarly);
  });

  it('breaks a silent stream off after the documented error as last event', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(CREATED);
    });
    const headers = { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': await virtualKey(1_000) };
    const answer = await readStream(`${gateway.app.url}/v1${RUNS}`, headers, { stream: true });
    expect(answer.end).toBe('broken');
    const [first, last, ...more] = answer.text.split('\n\n');
    expect([first, more]).toEqual([CREATED.trim(), ['']]);
    const [name, data] = (last ?? '').split('\ndata: ');
    expect(name).toBe('event: error');
    expect(JSON.parse(data ?? '')).toEqual({
      error: {
        message: 'The provider did not answer in time.',
        type: 'provider_error',
        code: 'provider_timeout',
        param: null,
        source: 'provider',
      },
    });
  });

  it.each([
    ['in the middle of an event', {}, `${CREATED}event: thread.run`],
    ['with a length that was announced', { 'content-length': '1000' }, CREATED],
    ['with a coding that is unknown', { 'content-encoding': 'compress' }, CREATED],
  ])('breaks a silent stream to which no event can be added: %s', async (_where, headers, text) => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).write(text);
    });
    const asked = plainly(gateway, await virtualKey(1_000))('POST', RUNS, { body: { stream: true } });
    await expect(asked).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('waits at least the timeout of the virtual key before ending a silent stream', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(CREATED);
      setTimeout(() => response.end(COMPLETED), 1_500);
    });
    const run = await events(await virtualKey(60_000));
    await run.next();
    expect((await run.next()).value).toMatchObject({ event: 'thread.run.completed' });
  });
});
