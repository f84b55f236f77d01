import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayProcess } from './gateway-process.js';
import { makeOwnDatabase, type OwnDatabase } from './own-database.js';
import { type RoundRobin, startRoundRobin } from './round-robin.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './test-app.js';

type Settings = Readonly<Record<string, string>>;

/** Built gateways on one PostgreSQL, behind a balancer that does not know sessions. */
export class McpReplicas {
  private readonly processes: (GatewayProcess | undefined)[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'tollgate-mcp-'));

  private constructor(
    private readonly database: OwnDatabase,
    readonly front: RoundRobin,
  ) {}

  static async start(server: string, settings: readonly Settings[]): Promise<McpReplicas> {
    const replicas = new McpReplicas(await makeOwnDatabase(server), await startRoundRobin());
    for (const [index, own] of settings.entries()) await replicas.restart(index, own);
    return replicas;
  }

  get url(): string {
    return this.front.origin;
  }

  process(index: number): GatewayProcess {
    const process = this.processes[index];
    if (process === undefined) throw new Error(`replica ${index} is not running`);
    return process;
  }

  /** Stops the replica if it runs, and starts it with these settings. */
  async restart(index: number, settings: Settings = {}): Promise<void> {
    await this.kill(index);
    const process = new GatewayProcess(
      {
        DATABASE_URL: this.database.url,
        TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
        TOLLGATE_ADMIN_KEY: ADMIN_KEY,
        EGRESS_ALLOW: '127.0.0.1',
        MCP_PUBLIC_URL: this.front.origin,
        LOG_LEVEL: 'error',
        ...settings,
      },
      this.folder,
    );
    this.processes[index] = process;
    this.front.targets[index] = new URL(await process.url());
  }

  /** Kills the replica as a power failure would: the balancer must detect it by itself. */
  async kill(index: number): Promise<void> {
    await this.processes[index]?.kill();
    this.processes[index] = undefined;
  }

  async close(): Promise<void> {
    for (const index of this.processes.keys()) await this.kill(index);
    await this.front.close();
    await this.database.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
