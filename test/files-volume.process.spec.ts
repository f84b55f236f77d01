import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readString } from '../src/common/json/read.js';
import { type ByteProvider, startByteProvider } from './support/byte-provider.js';
import { GatewayProcess } from './support/gateway-process.js';
import { jsonOf, send } from './support/send.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

const MIB = 1_048_576;
const CHUNK_BYTES = 64 * 1_024;
const VOLUME = 300 * MIB;
/** Enough for buffers and code to reach their final size. */
const WARM_UP = 48 * MIB;
const MOST_GROWTH = 64 * MIB;
const SAMPLE_EVERY_MS = 20;

/** The shipped gateway in a process of its own: the memory of the test process shows nothing about it. */
let gateway: GatewayProcess;
let provider: ByteProvider;
let folder: string;
let url: string;
let headers: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-volume-'));
  provider = await startByteProvider();
  const database = await testDatabase();
  await database.empty();
  const keys = { TOLLGATE_ADMIN_KEY: ADMIN_KEY, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
  gateway = new GatewayProcess({ ...database.settings, ...keys, EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'warn' }, folder);
  url = await gateway.url();
  const key = { name: 'files', provider: 'openai-compatible', config: { base_url: provider.url } };
  const made = await send(`${url}/v1/virtual-keys`, {
    headers: { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(key),
  });
  headers = { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': readString(jsonOf(made)['slug'], 'slug') };
}, 90_000);
afterAll(async () => {
  await gateway.kill();
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Bytes that differ from chunk to chunk, so that a lost or duplicated chunk is detected. */
function bytes(size: number, digest: Hash): Readable {
  const chunks = function* () {
    for (let sent = 0; sent < size; sent += CHUNK_BYTES) {
      const chunk = Buffer.alloc(CHUNK_BYTES, sent / CHUNK_BYTES);
      chunk.writeUInt32LE(sent / CHUNK_BYTES);
      digest.update(chunk);
      yield chunk;
    }
  };
  return Readable.from(chunks(), { objectMode: false });
}

function into(digest: Hash): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      digest.update(chunk);
      done();
    },
  });
}

const sha256 = (): Hash => createHash('sha256');

/** Uploads that many bytes; returns the digests of the sent and of the received bytes. */
async function upload(size: number): Promise<readonly string[]> {
  const [sent, received] = [sha256(), sha256()];
  provider.answerWith((incoming, response) => {
    void pipeline(incoming, into(received)).then(() => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"file-1"}');
    });
  });
  const type = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(size) };
  const outgoing = request(`${url}/v1/files`, { method: 'POST', agent: false, headers: { ...headers, ...type } });
  const answered = once(outgoing, 'response');
  await pipeline(bytes(size, sent), outgoing);
  const [answer]: IncomingMessage[] = await answered;
  answer?.resume();
  expect(answer?.statusCode).toBe(200);
  return [sent.digest('hex'), received.digest('hex')];
}

/** Downloads that many bytes; returns the digests of the sent and of the received bytes. */
async function download(size: number): Promise<readonly string[]> {
  const [sent, received] = [sha256(), sha256()];
  provider.answerWith((_incoming, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': String(size) });
    void pipeline(bytes(size, sent), response);
  });
  const outgoing = request(`${url}/v1/files/file-1/content`, { agent: false, headers }).end();
  const [answer]: IncomingMessage[] = await once(outgoing, 'response');
  if (answer !== undefined) await pipeline(answer, into(received));
  expect(answer?.statusCode).toBe(200);
  return [sent.digest('hex'), received.digest('hex')];
}

/** Resident memory of the gateway in bytes, from its own metrics. */
async function memory(): Promise<number> {
  const { text } = await send(`${url}/metrics`, { method: 'GET' });
  const [, bytesHeld] = /^process_resident_memory_bytes (\S+)$/m.exec(text) ?? [];
  if (bytesHeld === undefined) throw new Error('the gateway does not report its memory');
  return Number(bytesHeld);
}

/** Peak memory of the gateway during the work, above its memory before. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = await memory();
  let peak = before;
  let isOver = false;
  const sampling = (async () => {
    for (; !isOver; await sleep(SAMPLE_EVERY_MS)) peak = Math.max(peak, await memory());
  })();
  await work().finally(() => (isOver = true));
  await sampling;
  return Math.max(peak, await memory()) - before;
}

describe('the memory of the gateway while it streams 300 MiB', () => {
  beforeAll(async () => {
    await upload(WARM_UP);
    await download(WARM_UP);
  }, 60_000);

  it.each([
    ['in an upload', upload],
    ['in a download', download],
  ])(
    'streams 300 MiB %s with little memory',
    async (_direction, pass) => {
      const growth = await growthDuring(async () => {
        const [sent, received] = await pass(VOLUME);
        expect(received).toBe(sent);
      });
      expect(growth).toBeLessThan(MOST_GROWTH);
    },
    120_000,
  );
});
