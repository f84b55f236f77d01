import { randomUUID } from 'node:crypto';
import { GatewayClient } from './gateway-client.js';
import { json, type RawMcpServer, startRawMcpServer } from './mcp-raw-server.js';
import { startTestApp, type TestApp } from './test-app.js';

/** A gateway, and an MCP server that answers it whatever a test wants. */
export class RawMcpGateway {
  static async start(): Promise<RawMcpGateway> {
    return new RawMcpGateway(...(await Promise.all([startTestApp(), startRawMcpServer()])));
  }

  readonly admin: GatewayClient;

  private constructor(
    readonly gateway: TestApp,
    readonly raw: RawMcpServer,
  ) {
    this.admin = new GatewayClient(gateway.url);
  }

  /** Registers the server under a new name, and returns that. */
  async register(): Promise<string> {
    const slug = `s-${randomUUID()}`;
    await this.admin.create('/v1/mcp-servers', { name: 'A server', slug, url: this.raw.endpoint.href });
    return slug;
  }

  /** The server answers as in the beginning, and remembers nothing. */
  reset(): void {
    this.raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
    this.raw.forget();
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await this.raw.close();
  }
}
