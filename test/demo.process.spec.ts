// `npm run demo`: what it prints works as printed, and nothing is left of it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as zlib from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { zstdFrame } from '../src/common/http/__fixtures__/zstd-frames.js';
import { eventually } from './support/eventually.js';
import { BuiltProgram } from './support/gateway-process.js';

const DEMO = fileURLToPath(new URL('../scripts/demo/demo.mjs', import.meta.url));
const END_OF_TEXT = 'Ctrl-C ends';
const GREETING = /^Hello from the scripted provider\..* at a time\.$/;
const START_MS = 60_000;
const TOO_LARGE_BYTES = 32 * 1024 * 1024 + 1;
const CODINGS: readonly (readonly [string, (text: string) => Uint8Array<ArrayBuffer>])[] = [
  ['gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['br', zlib.brotliCompressSync],
  ['gzip, br', (text) => zlib.brotliCompressSync(zlib.gzipSync(text))],
  ['zstd', zstdFrame],
];
/** Node 20 has no decoder for zstd. */
const KNOWN_CODINGS = CODINGS.filter(([name]) => name !== 'zstd' || 'zstdDecompressSync' in zlib);

// A start takes two seconds of CPU, which other test files use too.
jest.setTimeout(90_000);

/** The demo's folders are made in it. */
let folder: string;
let demo: BuiltProgram | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-demo-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function startDemo(settings: Readonly<Record<string, string>>): BuiltProgram {
  demo = new BuiltProgram(DEMO, { TMPDIR: folder, ...settings }, folder);
  return demo;
}

interface PrintedRequest {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The requests of the curl commands in a text, by the words that a shell would make of them. */
function requestsIn(text: string): readonly PrintedRequest[] {
  return [...text.matchAll(/^curl (?:.*\\\n)*.*$/gm)].map(([command]) => {
    const headers = [...command.matchAll(/-H '([^':]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]);
    const [, address = ''] = /^curl -\w+ (\S+)/.exec(command) ?? [];
    const [, body = ''] = /-d '([^']+)'/.exec(command) ?? [];
    return { address, headers: Object.fromEntries(headers), body };
  });
}

/** The address of the scripted provider that the demo prints. */
function providerIn(text: string): string {
  return /Behind it, at (\S+),/.exec(text)?.[1] ?? '';
}

async function send(
  { address, headers, body }: PrintedRequest,
  coding = 'identity',
  encode: (text: string) => string | Uint8Array<ArrayBuffer> = (text) => text,
): Promise<Response> {
  const coded = { headers: { ...headers, 'content-encoding': coding }, body: encode(body) };
  const answer = await fetch(address, { method: 'POST', ...coded });
  expect([address, answer.status]).toEqual([address, 200]);
  return answer;
}

/** All values of a field in the events of a stream, put together. */
function joined(stream: string, field: string): string {
  const values = [...stream.matchAll(new RegExp(`"${field}":"([^"]*)"`, 'g'))];
  return values.map(([, value = '']) => value).join('');
}

function isRefusing(url: string): Promise<boolean> {
  return fetch(url).then(
    () => false,
    () => true,
  );
}

describe('the demo', () => {
  let text: string;
  let requests: readonly PrintedRequest[];

  beforeAll(async () => {
    const running = startDemo({ PORT: '0' });
    await eventually(() => running.hasEnded || running.stdout.includes(END_OF_TEXT), START_MS);
    text = running.stdout;
    requests = requestsIn(text);
  });
  afterAll(() => demo?.kill());

  it('prints three requests, for a chat, a streamed chat and a streamed message', () => {
    const shown = requests.map(({ address, body }) => [new URL(address).pathname, body.includes('"stream":true')]);
    expect(shown).toEqual([
      ['/v1/chat/completions', false],
      ['/v1/chat/completions', true],
      ['/v1/messages', true],
    ]);
  });

  it('answers the printed chat, with its cost', async () => {
    const [chat] = requests;
    if (chat === undefined) throw new Error(text);
    const answer = await send(chat);
    expect(answer.headers.get('x-gateway-virtual-key-used')).toBe('scripted');
    expect(answer.headers.get('x-gateway-cost')).toBe('0.00014');
    expect(await answer.json()).toMatchObject({
      choices: [{ message: { content: expect.stringMatching(GREETING) }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 20, completion_tokens: 10 },
    });
  });

  it('streams the printed chat and the printed message to their ends', async () => {
    const [, chat, message] = requests;
    if (chat === undefined || message === undefined) throw new Error(text);
    const chunks = await (await send(chat)).text();
    expect(joined(chunks, 'content')).toMatch(GREETING);
    expect(chunks.trimEnd().endsWith('data: [DONE]')).toBe(true);
    const events = await (await send(message)).text();
    expect(joined(events, 'text')).toMatch(GREETING);
    expect(events).toContain('event: message_stop');
  });

  it.each(KNOWN_CODINGS)('answers the printed chat with a body compressed as %s', async (coding, encode) => {
    const [chat] = requests;
    if (chat === undefined) throw new Error(text);
    const answer = await send(chat, coding, encode);
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: expect.stringMatching(GREETING) } }] });
  });

  it('refuses a body that is too large when decoded, or has an unknown coding', async () => {
    const address = `${providerIn(text)}/v1/chat/completions`;
    const large = `{"model":"demo"}${' '.repeat(TOO_LARGE_BYTES)}`;
    for (const [coding, body] of [
      ['gzip', zlib.gzipSync(large)],
      ['lzma', '{}'],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      const answer = await fetch(address, { method: 'POST', headers, body });
      expect([coding, answer.status]).toEqual([coding, 400]);
    }
  });

  it('refuses the printed requests without their key', async () => {
    for (const { address, body } of requests) {
      const answer = await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      expect([address, answer.status]).toEqual([address, 401]);
    }
  });

  it('calls a tool of the request, and repeats what the tool returned', async () => {
    const [chat] = requests;
    if (chat === undefined) throw new Error(text);
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const tools = [{ type: 'function', function: { name: 'weather', parameters } }];
    const messages: object[] = [{ role: 'user', content: 'Is it raining?' }];
    const ask = async (): Promise<unknown> =>
      (await send({ ...chat, body: JSON.stringify({ model: 'demo', tools, messages }) })).json();
    const call = { function: { name: 'weather', arguments: '{"city":"example"}' } };
    expect(await ask()).toMatchObject({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] });
    messages.push({ role: 'tool', tool_call_id: 'call_1', content: 'It rains' });
    expect(await ask()).toMatchObject({ choices: [{ message: { content: 'The tool said It rains.' } }] });
  });

  it('ends on Ctrl-C, also while a stream runs, and leaves neither a process nor data', async () => {
    const [gateway = '', provider = ''] = [...text.matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].flat();
    expect([await isRefusing(gateway), await isRefusing(provider)]).toEqual([false, false]);
    const [, chat] = requests;
    if (chat === undefined || demo === undefined) throw new Error(text);
    const stream = await send(chat);
    demo.signal('SIGINT');
    expect(await demo.exitCode()).toBe(0);
    await stream.text().catch(() => undefined);
    expect(demo.stderr).not.toContain('Error');
    expect([await isRefusing(gateway), await isRefusing(provider)]).toEqual([true, true]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the demo at a port that it cannot have', () => {
  let other: Server;

  beforeAll(async () => {
    other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => void other.close());
  afterEach(() => demo?.kill());

  async function complaintAbout(port: string): Promise<string> {
    const refused = startDemo({ PORT: port });
    expect(await refused.exitCode()).toBe(1);
    expect([refused.stdout, readdirSync(folder)]).toEqual(['', []]);
    return refused.stderr;
  }

  it('exits 1, and names a port that is in use and how to choose another one', async () => {
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    expect(await complaintAbout(port)).toBe(
      `Port ${port} is in use by another program. Choose another port: PORT=8788 npm run demo\n`,
    );
  });

  it('exits 1 when PORT is not a port', async () => {
    expect(await complaintAbout('http')).toBe('PORT must be a number up to 65535, and is http.\n');
  });
});
