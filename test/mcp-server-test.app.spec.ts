// A hostile or broken server can do little harm to the gateway that tests it.
import type { RequestListener, ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { isObject, type JsonObject } from '../src/common/json/read.js';
import { McpServer } from '../src/mcp/servers/mcp-server.entity.js';
import { McpServerToolStore } from '../src/mcp/servers/mcp-server-tool.store.js';
import type { SeenTool } from '../src/mcp/servers/seen-tool.js';
import { eventually } from './support/eventually.js';
import { json, plain } from './support/mcp-raw-server.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { jsonOf } from './support/send.js';

const SESSION = 'session-1';

const mcp = rawMcpGateway();

async function tested(): Promise<{ readonly path: string; readonly result: JsonObject }> {
  const path = `/v1/mcp-servers/${await mcp.register()}`;
  const answer = await mcp.admin.post(`${path}/test`);
  expect(answer.status).toBe(200);
  return { path, result: jsonOf(answer) };
}

function result(id: unknown, value: object, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return json({ jsonrpc: '2.0', id, result: value }, 200, headers);
}

/** A server that begins with a handshake, and lists its tools through the given function. */
function withHandshake(list: (id: unknown) => RequestListener): RequestListener {
  return (request, response: ServerResponse) => {
    const text = mcp.raw.received.at(-1)?.body.toString('utf8') ?? '';
    const message: unknown = text === '' ? {} : JSON.parse(text);
    const { id, method } = isObject(message) ? message : {};
    const serverInfo = { name: 'broken', version: '1' };
    const hello = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
    const answer =
      method === 'initialize'
        ? result(id, hello, { 'mcp-session-id': SESSION })
        : method === 'tools/list'
          ? list(id)
          : plain(request.method === 'DELETE' ? 200 : method === 'notifications/initialized' ? 202 : 400);
    answer(request, response);
  };
}

/** A server without a handshake. */
function stateless(list: (id: unknown) => RequestListener): RequestListener {
  return (request, response) => {
    const { id, method } = JSON.parse(mcp.raw.received.at(-1)?.body.toString('utf8') ?? '');
    const answer =
      method === 'server/discover'
        ? result(id, { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })
        : method === 'tools/list'
          ? list(id)
          : plain(400);
    answer(request, response);
  };
}

/** Sessions whose end reached the server. */
function ended(): readonly (string | undefined)[] {
  return mcp.raw.received
    .filter(({ method }) => method === 'DELETE')
    .map(({ rawHeaders }) => rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === 'mcp-session-id') + 1]);
}

describe('the test of a server that also accepts handshakes', () => {
  it('ends the session of a server test for every revision', async () => {
    mcp.raw.answerWith((request, response) => {
      const text = mcp.raw.received.at(-1)?.body.toString('utf8') ?? '';
      const { id, method } = JSON.parse(text === '' ? '{}' : text);
      const answer =
        method === 'initialize'
          ? result(id, { protocolVersion: '2025-06-18', capabilities: {} }, { 'mcp-session-id': SESSION })
          : method === 'server/discover'
            ? result(id, { supportedVersions: ['2026-07-28'], capabilities: {} })
            : // As the official SDK answers a revision that it does not know.
              plain(request.headers['mcp-protocol-version'] === '2025-06-18' ? 200 : 400);
      answer(request, response);
    });
    expect((await tested()).result).toMatchObject({ ok: true, era: 'both' });
    const [end] = mcp.raw.received.filter(({ method }) => method === 'DELETE');
    expect(end?.rawHeaders).toEqual(expect.arrayContaining(['mcp-protocol-version', '2025-06-18']));
    expect(ended()).toEqual([SESSION]);
  });
});

it('ignores a malformed revision of a server', async () => {
  mcp.raw.answerWith((request, response) => {
    const { id, method } = JSON.parse(mcp.raw.received.at(-1)?.body.toString('utf8') ?? '');
    const answer =
      method === 'initialize'
        ? result(id, { protocolVersion: 'x'.repeat(100_000), capabilities: {} })
        : result(id, { supportedVersions: ['2026-07-28'], capabilities: {} });
    answer(request, response);
  });
  expect((await tested()).result).toMatchObject({ ok: true, era: 'modern', protocol_versions: ['2026-07-28'] });
});

describe('the test of a server', () => {
  const inputSchema = { type: 'object' };
  const ODD = [
    { name: 'good', description: 'a\u0000b', inputSchema },
    { name: 'a\u0000b', inputSchema },
    { name: 'half\ud800', inputSchema },
  ];

  it.each([
    ['with a handshake', withHandshake((id) => result(id, { tools: ODD }))],
    ['without one', stateless((id) => result(id, { tools: ODD }))],
  ])('ignores tools whose names cannot be stored, from a server %s', async (_what, listener) => {
    mcp.raw.answerWith(listener);
    const { path, result: outcome } = await tested();
    expect(outcome).toMatchObject({ ok: true, tools: 1 });
    expect(await mcp.admin.list(`${path}/tools`)).toMatchObject([{ name: 'good', description: 'a\uFFFDb' }]);
  });

  const ERAS = [
    ['with a handshake', withHandshake],
    ['without one', stateless],
  ] as const;

  it.each(ERAS)('counts each tool once and reads each page once, from a server %s', async (_what, server) => {
    let pages = 0;
    mcp.raw.answerWith(
      server((id) => {
        pages += 1;
        return result(id, {
          tools: [
            { name: 'one', inputSchema },
            { name: `page-${pages % 2}`, inputSchema },
          ],
          nextCursor: `${pages % 2}`,
        });
      }),
    );
    expect((await tested()).result).toMatchObject({ ok: true, tools: 3 });
    expect(pages).toBe(3);
  });

  it.each(ERAS)(
    'deletes tools that are gone only after reading the whole list, from a server %s',
    async (_what, server) => {
      let names = ['kept', 'gone'];
      let nextCursor: string | undefined;
      mcp.raw.answerWith(
        server((id) => result(id, { tools: names.map((name) => ({ name, inputSchema })), nextCursor })),
      );
      const { path } = await tested();
      const namesAfter = async (): Promise<readonly unknown[]> => {
        await mcp.admin.post(`${path}/test`);
        return (await mcp.admin.list(`${path}/tools`)).map(({ name }) => name);
      };
      [names, nextCursor] = [['kept', 'new'], 'again'];
      expect(await namesAfter()).toEqual(['gone', 'kept', 'new']);
      nextCursor = undefined;
      expect(await namesAfter()).toEqual(['kept', 'new']);
    },
  );

  it('stores at most 1,000 tools and reports how many it has found', async () => {
    const tools = Array.from({ length: 1_100 }, (_none, at) => ({ name: `tool-${at}`, inputSchema }));
    mcp.raw.answerWith(stateless((id) => result(id, { tools })));
    const { path, result: outcome } = await tested();
    expect(outcome).toMatchObject({ ok: true, tools: 1_100 });
    const remembered = await mcp.admin.listAll(`${path}/tools`);
    expect(remembered).toHaveLength(1_000);
    // The same tools in another order: none of them is gone.
    tools.reverse();
    await mcp.admin.post(`${path}/test`);
    expect((await mcp.admin.listAll(`${path}/tools`)).map(({ name }) => name)).toEqual(
      remembered.map(({ name }) => name),
    );
    tools.splice(0, 1_100, { name: 'other', inputSchema });
    await mcp.admin.post(`${path}/test`);
    expect(await mcp.admin.list(`${path}/tools`)).toMatchObject([{ name: 'other' }]);
  });

  it('does not validate the schemas of tools', async () => {
    const outputSchema = {
      type: 'object',
      properties: { x: { type: 'string', pattern: '((' }, y: { $ref: '#/nowhere' } },
    };
    mcp.raw.answerWith(withHandshake((id) => result(id, { tools: [{ name: 'odd', inputSchema, outputSchema }] })));
    const { path, result: outcome } = await tested();
    expect(outcome).toMatchObject({ ok: true, tools: 1 });
    expect(await mcp.admin.list(`${path}/tools`)).toMatchObject([{ name: 'odd' }]);
  });

  it.each<readonly [string, (id: unknown) => RequestListener, string]>([
    ['fails', () => plain(500), 'provider_failed'],
    ['lists invalid tools', (id) => result(id, { tools: [{ name: 7 }] }), 'provider_invalid_response'],
    ['hangs up', () => (request) => void request.socket.destroy(), 'provider_failed'],
    [
      'lists too much',
      (id) => result(id, { tools: [], more: 'x'.repeat(4 * 1024 * 1024) }),
      'provider_invalid_response',
    ],
  ])('ends its session at a server that %s', async (_what, list, error) => {
    mcp.raw.answerWith(withHandshake(list));
    expect((await tested()).result).toMatchObject({ ok: false, error });
    await eventually(() => ended().length > 0);
    expect(ended()).toEqual([SESSION]);
  });

  it('reports tools although the server is deleted during the test', async () => {
    const slug = await mcp.register();
    const list = (id: unknown): RequestListener => {
      const tools = result(id, { tools: [{ name: 'late', inputSchema }] });
      return (request, response) =>
        void mcp.admin.delete(`/v1/mcp-servers/${slug}`).then(() => tools(request, response));
    };
    mcp.raw.answerWith(withHandshake(list));
    const answer = await mcp.admin.post(`/v1/mcp-servers/${slug}/test`);
    expect(answer).toMatchObject({ status: 200 });
    expect(jsonOf(answer)).toMatchObject({ ok: true, tools: 1 });
  });

  it('stores concurrent tool lists in any order without a deadlock', async () => {
    const slug = await mcp.register();
    const { id, organisationId } = await mcp.gateway.dataSource.getRepository(McpServer).findOneByOrFail({ slug });
    const tools = mcp.gateway.app.get(McpServerToolStore, { strict: false });
    // With 40 tools and a step that does not divide 40, each list has all tools in another order.
    const list = (step: number, description: string): SeenTool[] =>
      Array.from({ length: 40 }, (_none, at) => ({ name: `tool-${(at * step) % 40}`, description }));
    for (let round = 0; round < 5; round += 1) {
      const lists = [1, 3, 7].map((step) => [...list(step, `${round}`), { name: `new-${round}-${step}` }]);
      await Promise.all([
        ...lists.map((each) => tools.remember({ id, organisationId }, each)),
        tools.note({ id, organisationId }, list(11, `note ${round}`)),
      ]);
    }
    const [all] = await tools.list(id);
    expect(all.length).toBeGreaterThanOrEqual(40);
  });

  it('ends the session when the handshake itself has failed', async () => {
    mcp.raw.answerWith((request, response) => {
      const isHello = mcp.raw.received.at(-1)?.body.includes('"initialize"') ?? false;
      const answer = isHello
        ? plain(200, { 'mcp-session-id': SESSION, 'content-type': 'application/json' }, '{')
        : plain(400);
      answer(request, response);
    });
    expect((await tested()).result).toMatchObject({ ok: false });
    expect(new Set(ended())).toEqual(new Set([SESSION]));
  });
});
