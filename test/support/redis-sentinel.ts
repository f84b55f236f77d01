import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closedPort } from '../../src/upstream/__fixtures__/loopback.js';
import { eventually } from './eventually.js';
import { end, HOST, kill, PASSWORD, type RedisProcess, startRedis, urlOf, wordsOf } from './redis-process.js';

const NAME = 'my_Primary';

/** A primary, its replica, and a sentinel that can promote the replica. All require a password. */
export class WatchedRedis {
  private constructor(
    private readonly folder: string,
    private readonly servers: readonly RedisProcess[],
    private readonly sentinel: RedisProcess,
    /** The port of a sentinel that is down. */
    private readonly deadPort: number,
  ) {}

  static async start(): Promise<WatchedRedis> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-redis-'));
    const started: RedisProcess[] = [];
    try {
      const primary = await startServer(folder);
      started.push(primary);
      const replica = await startServer(folder, ['--replicaof', HOST, String(primary.port)]);
      started.push(replica);
      await eventually(async () => /master_link_status:up/.test(await replica.client.info('replication')));
      const sentinel = await startSentinel(folder, primary.port);
      started.push(sentinel);
      // It finds the replica by itself.
      await eventually(async () => /slaves=1/.test(await sentinel.client.info('sentinel')));
      return new WatchedRedis(folder, [primary, replica], sentinel, await closedPort());
    } catch (error) {
      await Promise.all(started.map(end));
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** The gateway's settings. The first sentinel of the list is down. */
  get settings(): { readonly REDIS_URL: string; readonly REDIS_SENTINEL_URLS: string } {
    const sentinels = [this.deadPort, this.sentinel.port].map((port) => urlOf(HOST, port));
    return { REDIS_URL: `${urlOf(NAME)}/1`, REDIS_SENTINEL_URLS: sentinels.join() };
  }

  /** Suspends the primary: it accepts connections and never answers. */
  async stopPrimary(): Promise<void> {
    kill(await this.primary(), 'SIGSTOP');
  }

  /** The number of keys in the database of the settings. */
  async keys(): Promise<number> {
    const { client } = await this.primary();
    await client.select(1);
    return client.dbsize();
  }

  async close(): Promise<void> {
    await Promise.all([...this.servers, this.sentinel].map(end));
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The primary that the sentinel reports. */
  private async primary(): Promise<RedisProcess> {
    const address = await this.sentinel.client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME);
    const server = this.servers.find(({ port }) => String(address) === `${HOST},${port}`);
    if (server === undefined) throw new Error(`the sentinel names ${String(address)}`);
    return server;
  }
}

async function startServer(folder: string, more: readonly string[] = []): Promise<RedisProcess> {
  const port = await closedPort();
  const account = { requirepass: PASSWORD, masterauth: PASSWORD };
  const options = { bind: HOST, port, dir: folder, save: '', 'repl-diskless-sync-delay': 0, ...account };
  return startRedis(port, [...wordsOf(options), ...more]);
}

async function startSentinel(folder: string, primaryPort: number): Promise<RedisProcess> {
  const port = await closedPort();
  // Sentinel writes to its configuration file.
  const file = join(folder, 'sentinel.conf');
  const lines = [
    `bind ${HOST}`,
    `port ${port}`,
    `dir ${folder}`,
    `requirepass ${PASSWORD}`,
    `sentinel monitor ${NAME} ${HOST} ${primaryPort} 1`,
    `sentinel auth-pass ${NAME} ${PASSWORD}`,
    `sentinel down-after-milliseconds ${NAME} 1000`,
    `sentinel failover-timeout ${NAME} 5000`,
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  return startRedis(port, [file, '--sentinel']);
}
