// A call takes one of its caller's slots before its body is read, which bounds the memory of buffered bodies.
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { McpProxy } from '../src/mcp/proxy/mcp-proxy.js';
import { eventually } from './support/eventually.js';
import { HalfSent } from './support/half-sent.js';
import { events, json, silentEvents } from './support/mcp-raw-server.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { jsonOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const PLACES = 4;
const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };
const HEADERS = { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json' };
/** More than is read of a body that is too large: its header is refused. */
const FAR_TOO_LARGE = { 'content-length': String(1024 * 1024 * 1024) };

const mcp = rawMcpGateway({ MCP_CALLS_PER_CALLER: String(PLACES) });
const opened: HalfSent[] = [];
/** The number of admitted calls. */
let entered: () => number;

beforeAll(() => {
  const spy = jest.spyOn(mcp.gateway.app.get(McpProxy), 'enterCall');
  entered = () => spy.mock.results.filter(({ type }) => type === 'return').length;
});

afterEach(() => {
  for (const call of opened.splice(0)) call.leave();
});

function begin(path: string, headers: Readonly<Record<string, string>> = {}): HalfSent {
  const call = new HalfSent(mcp.gateway.url + path, { ...HEADERS, ...headers }, JSON.stringify(PING));
  opened.push(call);
  return call;
}

/** Resolves when the calls have been admitted. */
async function take(places: number, path: string): Promise<readonly HalfSent[]> {
  const before = entered();
  const calls = Array.from({ length: places }, () => begin(path));
  await eventually(() => entered() === before + places);
  return calls;
}

async function statusOf(path: string): Promise<number> {
  return (await mcp.call(path, PING)).status;
}

async function untilFree(path: string): Promise<void> {
  await eventually(async () => (await statusOf(path)) < 300);
}

/** The message addresses of both transports. */
const ENDPOINTS = {
  today: async () => `/${await mcp.register()}/mcp`,
  older: async () => {
    const slug = await mcp.register({ transport: 'sse' });
    mcp.raw.answerWith(events(['event: endpoint\ndata: /messages\n\n']));
    const { text } = await mcp.call(`/${slug}/sse`, '', {}, 'GET');
    mcp.raw.answerWith(json({}));
    return /data: (\S+)/.exec(text)?.[1] ?? '';
  },
};

describe.each(['today', 'older'] as const)('calls with incomplete bodies (transport: %s)', (transport) => {
  it("limits a caller's calls with incomplete bodies and refuses the next one unread", async () => {
    const path = await ENDPOINTS[transport]();
    await take(PLACES, path);
    mcp.raw.forget();
    const refused = await mcp.call(path, PING);
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(jsonOf(refused)).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'rate_limited' } } });
    // The refusal arrives before its own body does.
    expect((await begin(path).answer).status).toBe(429);
    expect(mcp.raw.received).toEqual([]);
    // Each server has its own limit.
    expect(await statusOf(`/${await mcp.register()}/mcp`)).toBe(200);
  });

  it('releases the slots of calls that end, are refused or are answered', async () => {
    const path = await ENDPOINTS[transport]();
    const [first, second] = await take(PLACES, path);
    first?.leave();
    await untilFree(path);
    await take(1, path);
    expect(await statusOf(path)).toBe(429);
    second?.finish();
    expect((await second?.answer)?.status).toBe(200);
    await untilFree(path);
    for (let each = 0; each <= PLACES; each += 1) expect((await begin(path, FAR_TOO_LARGE).answer).status).toBe(413);
    for (let each = 0; each <= PLACES; each += 1) expect((await mcp.call(path, '{"id":')).status).toBe(400);
    await take(1, path);
    expect(await statusOf(path)).toBe(429);
  });
});

describe('a call whose answer is a stream', () => {
  it('keeps one slot for a call whose answer is a stream', async () => {
    const path = await ENDPOINTS.today();
    mcp.raw.answerWith(silentEvents);
    const calls = await take(PLACES - 1, path);
    for (const call of calls) call.finish();
    await eventually(() => mcp.raw.received.length === PLACES - 1);
    mcp.raw.answerWith(json({}));
    expect(await statusOf(path)).toBe(200);
    await take(1, path);
    expect(await statusOf(path)).toBe(429);
    calls[0]?.leave();
    await untilFree(path);
  });
});
