// How the outcome of a call that fails at its server is recorded, searched and counted.
import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { McpCallRecorder } from '../src/mcp/calls/mcp-call.recorder.js';
import { RequestLogRecorder } from '../src/request-logs/request-log.recorder.js';
import { eventually } from './support/eventually.js';
import { brokenEvents, events, json, plain } from './support/mcp-raw-server.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search' } };
const FINE = { jsonrpc: '2.0', id: 1, result: { content: [] } };
const TOOL_ERROR = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'no' }], isError: true } };
const LONG = { ...FINE, result: { content: [{ type: 'text', text: 'x'.repeat(1_100_000) }] } };
const RPC_ERROR = { jsonrpc: '2.0', id: 1, error: { code: -32_602, message: 'no' } };

const mcp = rawMcpGateway();

async function callsOf(slug: string, query = ''): Promise<readonly object[]> {
  await mcp.gateway.app.get(McpCallRecorder, { strict: false }).flush();
  return mcp.admin.list(`/v1/mcp-servers/${slug}/calls${query}`);
}

/** In the log of calls of all kinds. */
async function logged(slug: string, query = ''): Promise<readonly object[]> {
  await mcp.gateway.app.get(RequestLogRecorder, { strict: false }).flush();
  return mcp.admin.list(`/v1/logs?mcp_server=${slug}${query}`);
}

async function metrics(slug: string): Promise<readonly string[]> {
  const { text } = await send(`${mcp.gateway.url}/metrics`, { method: 'GET' });
  return text.split('\n').filter((line) => line.startsWith(`gateway_mcp_requests_total{server="${slug}"`));
}

describe('the outcome of a call', () => {
  it.each([
    ['a result', json(FINE), { status: 200, outcome: 'ok', rpc_error_code: null, error_code: null }],
    ['the error of a tool', json(TOOL_ERROR), { status: 200, outcome: 'tool_error', error_code: null }],
    ['the error of a tool in a stream', events([`data: ${JSON.stringify(TOOL_ERROR)}\n\n`]), { outcome: 'tool_error' }],
    ['a stream that breaks off', brokenEvents, { status: 200, outcome: 'gateway_error' }],
    ['a stream that ends without the answer', events([': nothing\n\n']), { status: 200, outcome: 'unknown' }],
    ['a long answer in a stream', events([`data: ${JSON.stringify(LONG)}\n\n`]), { status: 200, outcome: 'ok' }],
    ['a JSON-RPC error', json(RPC_ERROR), { status: 200, outcome: 'rpc_error', rpc_error_code: -32_602 }],
    ['a JSON-RPC error with a status', json(RPC_ERROR, 404), { status: 404, outcome: 'rpc_error' }],
    ['an HTTP error', plain(500), { status: 500, outcome: 'rpc_error', rpc_error_code: null }],
    ['no usable answer', plain(200, {}, 'a page'), { status: 502, outcome: 'gateway_error' }],
  ])('is recorded for %s, and counted by server', async (_what, answer, expected) => {
    const slug = await mcp.register();
    mcp.raw.answerWith(answer);
    await mcp.post(slug, CALL).catch(() => undefined);
    await eventually(async () => (await callsOf(slug)).length === 1);
    const [row] = await callsOf(slug);
    expect(row).toMatchObject({ tool: 'search', ...expected });
    const { status = 200, outcome } = { status: undefined, ...expected };
    await eventually(async () => (await logged(slug)).length === 1);
    expect(await logged(slug)).toMatchObject([{ status, outcome }]);
    expect(await logged(slug, '&outcome=ok')).toHaveLength(outcome === 'ok' ? 1 : 0);
    expect(await logged(slug, '&outcome=failed')).toHaveLength(outcome.endsWith('_error') ? 1 : 0);
    expect(await metrics(slug)).toEqual([
      `gateway_mcp_requests_total{server="${slug}",method="tools/call",status="${status}",outcome="${outcome}"} 1`,
    ]);
  });

  it('is a gateway error for a refused tool, and none for a server without streams', async () => {
    const slug = await mcp.register();
    await mcp.admin.put(`/v1/mcp-servers/${slug}/tools`, { tools: [{ name: 'search', enabled: false }] });
    await mcp.post(slug, CALL);
    mcp.raw.answerWith(plain(405));
    await mcp.call(`/${slug}/mcp`, '', {}, 'GET');
    await eventually(async () => (await callsOf(slug)).length === 2);
    expect(await callsOf(slug)).toMatchObject([{ outcome: 'ok' }, { outcome: 'gateway_error' }]);
  });

  it('is counted as failed in the usage of each tool of a batch', async () => {
    const slug = await mcp.register();
    const other = { ...CALL, id: 2, params: { name: 'create' } };
    mcp.raw.answerWith(json([TOOL_ERROR, { ...FINE, id: 2 }]));
    await mcp.post(slug, [CALL, other]);
    mcp.raw.answerWith(plain(500));
    await mcp.post(slug, other);
    const query = `/v1/usage?group_by=mcp_tool&bucket=none&mcp_server=${slug}`;
    const counted = async (): Promise<number> =>
      (await mcp.admin.list(query)).reduce((sum, { calls }) => sum + Number(calls), 0);
    await eventually(async () => (await counted()) === 3);
    expect(await mcp.admin.list(query)).toMatchObject([
      { group: { mcp_tool: 'create' }, calls: 2, failed_calls: 1 },
      { group: { mcp_tool: 'search' }, calls: 1, failed_calls: 1 },
    ]);
  });
});

describe('the outcome of a call on the older transport', () => {
  /** A server whose answers come on the stream of the session, before or after it has accepted the message. */
  function legacy(answer: object, isFirst: boolean): RequestListener {
    let stream: ServerResponse | undefined;
    return (request, response) => {
      if (request.method === 'GET') {
        stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
        stream.write('event: endpoint\ndata: /message?sessionId=7\n\n');
        return;
      }
      const say = (): void => void stream?.write(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
      if (isFirst) say();
      response.writeHead(202).end('Accepted');
      if (!isFirst) setTimeout(say, 100);
    };
  }

  it.each([
    ['a result', FINE, true, { outcome: 'ok', rpc_error_code: null }],
    ['the error of a tool', TOOL_ERROR, false, { outcome: 'tool_error', rpc_error_code: null }],
    ['the error of a tool that comes early', TOOL_ERROR, true, { outcome: 'tool_error', rpc_error_code: null }],
    ['a JSON-RPC error', RPC_ERROR, false, { outcome: 'rpc_error', rpc_error_code: -32_602 }],
  ])('is read on the stream of the session: %s', async (_what, answer, isFirst, expected) => {
    const slug = await mcp.register({ transport: 'sse' });
    mcp.raw.answerWith(legacy(answer, isFirst));
    const stream = await fetch(`${mcp.gateway.url}/${slug}/sse`, { headers: { 'x-gateway-api-key': ADMIN_KEY } });
    const reader = stream.body?.getReader();
    const begun = Buffer.from((await reader?.read())?.value ?? '').toString();
    const path = /data: (\S+)/.exec(begun)?.[1] ?? '';
    expect((await mcp.call(path, CALL)).status).toBe(202);
    await eventually(async () => (await callsOf(slug)).length === 1);
    const [row] = await callsOf(slug);
    expect(row).toMatchObject({ tool: 'search', status: 202, error_code: null, ...expected });
    expect(await metrics(slug)).toEqual([
      `gateway_mcp_requests_total{server="${slug}",method="tools/call",status="202",outcome="${expected.outcome}"} 1`,
    ]);
    const query = `/v1/usage?group_by=mcp_tool&bucket=none&mcp_server=${slug}`;
    await eventually(async () => (await mcp.admin.list(query)).length === 1);
    expect(await mcp.admin.list(query)).toMatchObject([{ failed_calls: expected.outcome === 'ok' ? 0 : 1 }]);
    const found = (): Promise<readonly object[]> => logged(slug, '&status=202');
    await eventually(async () => (await found()).length === 1);
    expect(await found()).toMatchObject([{ outcome: expected.outcome }]);
    await reader?.cancel();
  });

  it('is unknown when the stream is not open here', async () => {
    const slug = await mcp.register({ transport: 'sse' });
    mcp.raw.answerWith(legacy(FINE, false));
    const stream = await fetch(`${mcp.gateway.url}/${slug}/sse`, { headers: { 'x-gateway-api-key': ADMIN_KEY } });
    const reader = stream.body?.getReader();
    const path = /data: (\S+)/.exec(Buffer.from((await reader?.read())?.value ?? '').toString())?.[1] ?? '';
    await reader?.cancel();
    await eventually(async () => (await callsOf(slug)).length === 1);
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const body of [CALL, notification]) expect((await mcp.call(path, body)).status).toBe(202);
    await eventually(async () => (await callsOf(slug)).length === 3);
    expect(await callsOf(slug)).toMatchObject([
      { rpc_method: 'notifications/initialized', outcome: 'ok' },
      { rpc_method: 'tools/call', outcome: 'unknown' },
      { rpc_method: null, outcome: 'ok' },
    ]);
    expect(await callsOf(slug, '?outcome=unknown')).toHaveLength(1);
    const query = `/v1/usage?group_by=mcp_tool&bucket=none&mcp_server=${slug}`;
    await eventually(async () => (await mcp.admin.list(query)).length === 1);
    expect(await mcp.admin.list(query)).toMatchObject([{ calls: 1, failed_calls: 0 }]);
  });
});

describe('the list of calls', () => {
  it('can be limited by user, tool, outcome, status and time', async () => {
    const slug = await mcp.register();
    mcp.raw.answerWith(json(TOOL_ERROR));
    await mcp.post(slug, CALL);
    mcp.raw.answerWith(json(FINE));
    await mcp.post(slug, { ...CALL, params: { name: 'create' } });
    await mcp.post(slug, { jsonrpc: '2.0', id: 1, method: 'ping' });
    await eventually(async () => (await callsOf(slug)).length === 3);
    const [, , first] = await mcp.admin.list(`/v1/mcp-servers/${slug}/calls`);
    const at = Number(first?.['created_at']);
    const user = String(first?.['user_id']);
    const found: Record<string, number> = {};
    for (const query of [
      'tool=search',
      'tool=none',
      'outcome=tool_error',
      'outcome=ok',
      'outcome=ok&tool=create',
      'status=200',
      'status=500',
      `user_id=${user}`,
      'user_id=none',
      `from=${at}&to=${at + 60}`,
      `from=${at + 60}`,
      `to=${at - 1}`,
    ]) {
      found[query] = (await callsOf(slug, `?${query}`)).length;
    }
    expect(Object.values(found)).toEqual([1, 0, 1, 2, 1, 3, 0, 3, 0, 3, 0, 0]);
  });

  it.each(['outcome=bad', 'status=99', 'from=-1', 'tool=', 'from=9&to=8', 'user=x'])(
    'refuses the query %s',
    async (query) => {
      const slug = await mcp.register();
      const answer = await mcp.admin.get(`/v1/mcp-servers/${slug}/calls?${query}`);
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    },
  );
});
