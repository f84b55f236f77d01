// Public forms of requests and answers, through the gateway: no byte changes on the way, and the ledger has their usage.
import { createHash } from 'node:crypto';
import { request as ask, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMembers } from '../src/common/json/members.js';
import type { StreamMeter } from '../src/gateway/billable-use.js';
import type { Dialect, InferenceFacts } from '../src/inference/dialects/dialect.types.js';
import { anthropicMessages } from '../src/inference/dialects/anthropic-messages/messages.dialect.js';
import { openaiChat } from '../src/inference/dialects/openai-chat/chat.dialect.js';
import { openaiCompletions } from '../src/inference/dialects/openai-completions/completions.dialect.js';
import { openaiEmbeddings } from '../src/inference/dialects/openai-embeddings.dialect.js';
import { openaiResponses } from '../src/inference/dialects/openai-responses/responses.dialect.js';
import { type ByteProvider, startByteProvider } from './support/byte-provider.js';
import { forEvery } from './support/for-every.js';
import { CORPUS_DIALECTS, type CorpusDialect, type CorpusForm, readCorpus } from './support/inference-corpus.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const LEAST_FORMS = 150;
const ENDPOINTS: Readonly<Record<CorpusDialect, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  responses: '/v1/responses',
  compact: '/v1/responses/compact',
  input_tokens: '/v1/responses/input_tokens',
  messages: '/v1/messages',
  count_tokens: '/v1/messages/count_tokens',
  embeddings: '/v1/embeddings',
};
/** Their calls are not in the ledger. */
const FREE: ReadonlySet<CorpusDialect> = new Set(['count_tokens', 'input_tokens']);
const METERS: Readonly<Partial<Record<CorpusDialect, (form: CorpusForm) => StreamMeter>>> = {
  chat: meterOf(openaiChat),
  completions: meterOf(openaiCompletions),
  responses: meterOf(openaiResponses),
  messages: meterOf(anthropicMessages),
  embeddings: meterOf(openaiEmbeddings),
};
/** Where an event, or a character, is cut. */
const MATTERS = /[\r\n\u0080-\u00ff]/;

const CORPUS = readCorpus();
const FORMS = CORPUS.map((form) => [form.name, form] as const);
const STREAMS = FORMS.filter(([, { isStream }]) => isStream);

let gateway: UsageGateway;
let provider: ByteProvider;
const virtualKeys = new Map<string, string>();

beforeAll(async () => {
  [gateway, provider] = await Promise.all([startUsageGateway(), startByteProvider()]);
  for (const slug of new Set(CORPUS.map(({ provider: each }) => each)))
    virtualKeys.set(slug, await gateway.virtualKey(slug, { config: { base_url: provider.url } }));
  // Calls are counted, and none is refused.
  await gateway.limit({ type: 'tokens', credit_limit: 1_000_000_000_000, unbounded: 'allow' });
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

/** How an exchange differs from the form. */
interface Way {
  /** The pieces of the answer, each a chunk of its own. */
  readonly piecesOf: (answer: Buffer) => readonly Buffer[];
  /** Whether the virtual key stands before the model, which is then the one value that changes. */
  readonly namesKeyInModel: boolean;
  /** Whether both sides compress what they send. */
  readonly compresses: boolean;
}

const AT_ONCE: Way = { piecesOf: (answer) => [answer], namesKeyInModel: false, compresses: false };
const COMPRESSED = { 'content-encoding': 'gzip' };

interface Exchange {
  readonly forwarded: Buffer;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly received: Buffer;
}

async function exchange(form: CorpusForm, { piecesOf, namesKeyInModel, compresses }: Way): Promise<Exchange> {
  let forwarded = Buffer.alloc(0);
  provider.answerWith((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      forwarded = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      response.writeHead(form.status, { ...form.headers, ...(compresses ? COMPRESSED : {}) });
      for (const piece of piecesOf(compresses ? gzipSync(form.answer) : form.answer)) response.write(piece);
      response.end();
    });
  });
  const slug = virtualKeys.get(form.provider) ?? '';
  const text = form.request.toString();
  const body = namesKeyInModel ? text.replace(/"model"\s*:\s*"/, (member) => `${member}@${slug}/`) : text;
  const own = { 'content-type': 'application/json', 'x-gateway-api-key': ADMIN_KEY };
  const headers = {
    ...own,
    ...(namesKeyInModel ? {} : { 'x-gateway-virtual-key': slug }),
    ...(compresses ? COMPRESSED : {}),
  };
  const sent = compresses ? gzipSync(body) : Buffer.from(body);
  return { ...(await post(ENDPOINTS[form.dialect], headers, sent)), forwarded };
}

function post(path: string, headers: Record<string, string>, body: Buffer): Promise<Omit<Exchange, 'forwarded'>> {
  return new Promise((resolve, reject) => {
    const asked = ask(gateway.app.url + path, { method: 'POST', agent: false, headers });
    asked.on('error', reject);
    asked.on('response', (message) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('error', reject);
      message.on('end', () =>
        resolve({ status: message.statusCode ?? 0, headers: message.headers, received: Buffer.concat(chunks) }),
      );
    });
    asked.end(body);
  });
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Sends a form, and compares both sides. Returns the trace of the call. */
async function check(form: CorpusForm, way: Way): Promise<string> {
  const { forwarded, status, headers, received } = await exchange(form, way);
  expect(readable(forwarded)).toBe(readable(form.forwarded));
  expect(sha256(forwarded)).toBe(sha256(form.forwarded));
  expect([status, readable(received)]).toEqual([form.status, readable(form.received)]);
  expect(sha256(received)).toBe(sha256(form.received));
  expect(headers).toMatchObject(form.headers);
  expect(headers).not.toHaveProperty('content-encoding');
  return String(headers['x-request-id']);
}

/** For the message of a failure: each byte is one character. */
function readable(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** Sends forms, and then compares their rows in the ledger. */
async function checkAll(forms: readonly (readonly [string, CorpusForm])[], way: Way): Promise<void> {
  await gateway.app.dataSource.query('DELETE FROM usage_events');
  const traces = new Map<string, string>();
  await forEvery(forms, async (form) => void traces.set(form.name, await check(form, way)));
  const metered = forms.filter(([, { dialect }]) => !FREE.has(dialect));
  const rows = await gateway.books.ledger(metered.length);
  expect(rows).toHaveLength(metered.length);
  const byTrace = new Map(rows.map((row) => [row.traceId, row]));
  await forEvery(metered, ({ name, usage, mode }) => {
    const row = byTrace.get(traces.get(name) ?? '');
    if (usage === undefined) return expect([name, row?.source]).toEqual([name, 'computed']);
    const counted = Object.entries(row?.quantities ?? {}).filter(([, figure]) => figure !== 0);
    const source = Object.keys(usage).length === 0 ? 'computed' : 'provider';
    expect([Object.fromEntries(counted), row?.source, row?.mode]).toEqual([usage, source, mode]);
  });
}

function bytesOf(answer: Buffer): readonly Buffer[] {
  return Array.from(answer, (byte) => Buffer.from([byte]));
}

/** Pieces of one to eight bytes, the same at each run. */
function scraps(answer: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let seed = answer.length;
  for (let at = 0; at < answer.length;) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const next = at + 1 + ((seed >> 16) & 7);
    pieces.push(answer.subarray(at, next));
    at = next;
  }
  return pieces;
}

function meterOf<Facts extends InferenceFacts>(dialect: Dialect<Facts>): (form: CorpusForm) => StreamMeter {
  return ({ request }) => {
    const facts = dialect.readFacts(readMembers(request, dialect.members), request);
    return dialect.newMeter({ facts, bytes: request, knownModel: undefined, hidesReasoning: false });
  };
}

/** The places at which a stream may be cut, and some others. */
function cutsOf(answer: Buffer): readonly number[] {
  const text = readable(answer);
  return Array.from(answer.keys()).filter(
    (at) => at % 7 === 0 || MATTERS.test(text.slice(Math.max(0, at - 1), at + 1)),
  );
}

describe('the corpus', () => {
  it('has forms of every dialect, whole, streamed and refused', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(LEAST_FORMS);
    expect(new Set(FORMS.map(([name]) => name)).size).toBe(CORPUS.length);
    for (const dialect of CORPUS_DIALECTS) expect(CORPUS.map((form) => form.dialect)).toContain(dialect);
    expect(STREAMS.length).toBeGreaterThan(LEAST_FORMS / 4);
    expect(CORPUS.filter(({ status }) => status >= 400).length).toBeGreaterThan(LEAST_FORMS / 12);
  });

  it('passes byte for byte in both directions, and its usage is in the ledger', async () => {
    await checkAll(FORMS, AT_ONCE);
    expect(await gateway.books.faults()).toEqual([]);
  });

  it.each([
    ['one byte at a time', bytesOf],
    ['in pieces of some bytes', scraps],
  ])('passes alike when its streams come %s', async (_how, piecesOf) => {
    await checkAll(STREAMS, { ...AT_ONCE, piecesOf, namesKeyInModel: true });
  });

  it('passes alike when both sides compress what they send', async () => {
    const some = FORMS.filter((_form, index) => index % 3 === 0);
    await checkAll(some, { ...AT_ONCE, compresses: true });
  });

  it('is metered alike wherever a stream is cut in two', async () => {
    await forEvery(STREAMS, (form) => {
      const whole = METERS[form.dialect]?.(form);
      whole?.push(form.answer);
      whole?.end();
      for (const cut of cutsOf(form.answer)) {
        const meter = METERS[form.dialect]?.(form);
        if (meter === undefined) throw new Error('no meter');
        const passed = [form.answer.subarray(0, cut), form.answer.subarray(cut)].map((piece) => meter.push(piece));
        const received = Buffer.concat([...passed, meter.end()]);
        if (!received.equals(form.received)) throw new Error(`cut at ${cut}: ${readable(received)}`);
        expect([cut, meter.usage]).toEqual([cut, whole?.usage]);
      }
    });
  });

  it.each(['forwarded', 'received'] as const)('notices one changed byte in what is %s', async (side) => {
    const [form] = CORPUS;
    if (form === undefined) throw new Error('no form');
    const other = Buffer.from(form[side]);
    other.writeUInt8(other.readUInt8(other.length - 2) ^ 1, other.length - 2);
    await expect(check({ ...form, [side]: other }, AT_ONCE)).rejects.toThrow();
    await expect(check(form, AT_ONCE)).resolves.toEqual(expect.any(String));
  });
});
