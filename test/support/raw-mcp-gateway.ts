import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { JsonObject } from '../../src/common/json/read.js';
import { eventually } from './eventually.js';
import { GatewayClient } from './gateway-client.js';
import { json, type RawMcpServer, startRawMcpServer } from './mcp-raw-server.js';
import { type Answer, send } from './send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './test-app.js';

/** One gateway for all tests of the calling file, from before the first until after the last. */
export function rawMcpGateway(settings: Readonly<Record<string, string>> = {}): RawMcpGateway {
  const mcp = new RawMcpGateway(settings);
  beforeAll(() => mcp.start());
  afterEach(() => mcp.reset());
  afterAll(() => mcp.close());
  return mcp;
}

/** A gateway, and an MCP server that returns any answer of a test. */
class RawMcpGateway {
  gateway!: TestApp;
  admin!: GatewayClient;
  raw!: RawMcpServer;

  constructor(private readonly settings: Readonly<Record<string, string>>) {}

  async start(): Promise<void> {
    [this.gateway, this.raw] = await Promise.all([startTestApp(this.settings), startRawMcpServer()]);
    this.admin = new GatewayClient(this.gateway.url);
  }

  /** Registers the server under a new slug and returns the slug. */
  async register(fields: object = {}): Promise<string> {
    const slug = `s-${randomUUID()}`;
    await this.admin.create('/v1/mcp-servers', { name: 'A server', slug, url: this.raw.endpoint.href, ...fields });
    return slug;
  }

  /** The status of the answer to a message, or to a raw body. */
  async post(slug: string, body: object | string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    return (await this.call(`/${slug}/mcp`, body, headers)).status;
  }

  /** The answer to a message, or to a raw body or its pieces. */
  call(
    path: string,
    body: object | string | readonly Buffer[],
    headers: Readonly<Record<string, string>> = {},
    method = 'POST',
  ): Promise<Answer> {
    const all = { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json', ...headers };
    const sent = typeof body === 'string' || isPieces(body) ? body : JSON.stringify(body);
    return send(this.gateway.url + path, { method, headers: all, body: sent });
  }

  /** The usage report's row of each tool. */
  usageOf(slug: string, more = '', client = this.admin): Promise<readonly JsonObject[]> {
    return client.list(`/v1/usage?group_by=mcp_server,mcp_tool&bucket=none&mcp_server=${slug}${more}`);
  }

  /** The number of calls of each tool, once `total` calls are recorded. */
  async callsByTool(slug: string, total: number): Promise<JsonObject> {
    const sum = (rows: readonly JsonObject[]): number => rows.reduce((calls, row) => calls + Number(row['calls']), 0);
    await eventually(async () => sum(await this.usageOf(slug)) >= total);
    const rows = await this.usageOf(slug);
    return Object.fromEntries(rows.map(({ group, calls }) => [String(Object(group).mcp_tool), calls]));
  }

  /** Resets the server's answer and its recorded requests. */
  reset(): void {
    this.raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
    this.raw.forget();
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await this.raw.close();
  }
}

function isPieces(body: object): body is readonly Buffer[] {
  return Array.isArray(body) && body.every((piece) => Buffer.isBuffer(piece));
}
