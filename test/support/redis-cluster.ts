import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { closedPort } from '../../src/upstream/__fixtures__/loopback.js';
import { eventually } from './eventually.js';
import { end, HOST, kill, PASSWORD, type RedisProcess, startRedis, urlOf, wordsOf } from './redis-process.js';

const PRIMARIES = 3;
const SLOTS = 16_384;

interface Node extends RedisProcess {
  readonly busPort: number;
}

/** A Redis Cluster of three primaries, the first with a replica. It requires a password. */
export class RedisCluster {
  private constructor(
    private readonly nodes: readonly Node[],
    private readonly folder: string,
  ) {}

  static async start(): Promise<RedisCluster> {
    const cluster = await RedisCluster.startNodes();
    await cluster.meet();
    return cluster;
  }

  /** Its separate servers, before they form a cluster. */
  static async startNodes(): Promise<RedisCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-redis-'));
    const started = await Promise.allSettled(Array.from({ length: PRIMARIES + 1 }, () => startNode(folder)));
    const nodes = started.flatMap((node) => (node.status === 'fulfilled' ? [node.value] : []));
    const cluster = new RedisCluster(nodes, folder);
    const failed = started.find((node) => node.status === 'rejected');
    if (failed === undefined) return cluster;
    await cluster.close();
    throw failed.reason;
  }

  /** The URLs of all nodes. */
  get urls(): string {
    return this.nodes.map(({ port }) => urlOf(HOST, port)).join(', ');
  }

  /** The number of primaries that have at least one key. */
  async primariesInUse(): Promise<number> {
    const sizes = await Promise.all(this.nodes.slice(0, PRIMARIES).map(({ client }) => client.dbsize()));
    return sizes.filter((size) => size > 0).length;
  }

  killFirst(): void {
    const [first] = this.nodes;
    if (first !== undefined) kill(first, 'SIGKILL');
  }

  /** Suspends the node: it accepts connections and never answers. */
  stopFirst(): void {
    const [first] = this.nodes;
    if (first !== undefined) kill(first, 'SIGSTOP');
  }

  /** Whether the other nodes know the replica as the successor of the first primary. */
  async hasSuccessor(): Promise<boolean> {
    const [, second] = this.nodes;
    const id = await this.nodes.at(-1)?.client.cluster('MYID');
    const nodes = String(await second?.client.cluster('NODES'));
    return nodes.split('\n').some((line) => id !== undefined && line.startsWith(id) && line.includes('master'));
  }

  /** A key of the first primary. */
  async keyOfFirst(): Promise<string> {
    const [, second] = this.nodes;
    for (let index = 0; ; index += 1) {
      const slot = Number(await second?.client.cluster('KEYSLOT', `key-${index}`));
      if (slot < Math.floor(SLOTS / PRIMARIES)) return `key-${index}`;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map(end));
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Forms a cluster of the nodes. */
  async meet(): Promise<void> {
    try {
      await this.join();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  private async join(): Promise<void> {
    const [first] = this.nodes;
    const replica = this.nodes.at(-1);
    for (const [index, { client }] of this.nodes.slice(0, PRIMARIES).entries()) {
      const begin = Math.floor((index * SLOTS) / PRIMARIES);
      await client.cluster('ADDSLOTSRANGE', begin, Math.floor(((index + 1) * SLOTS) / PRIMARIES) - 1);
    }
    for (const [index, { client }] of this.nodes.entries()) {
      // As redis-cli does. Nodes with equal epochs change them later, while a test may already stop one.
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
      await client.call('CLUSTER', 'MEET', HOST, first?.port ?? 0, first?.busPort ?? 0);
    }
    await this.all(async (client) => /cluster_known_nodes:4/.test(await client.cluster('INFO')));
    await replica?.client.cluster('REPLICATE', (await first?.client.cluster('MYID')) ?? '');
    await this.all(async (client) => /cluster_state:ok/.test(await client.cluster('INFO')));
    await eventually(async () => /master_link_status:up/.test((await replica?.client.info('replication')) ?? ''));
  }

  private async all(isSo: (client: Redis) => Promise<boolean>): Promise<void> {
    await eventually(async () => (await Promise.all(this.nodes.map(({ client }) => isSo(client)))).every(Boolean));
  }
}

/** Repeats the start with other ports when another process took one of them. */
async function startNode(folder: string): Promise<Node> {
  return tryNode(folder).catch(() => tryNode(folder));
}

async function tryNode(folder: string): Promise<Node> {
  const [port, busPort] = [await closedPort(), await closedPort()];
  const options = {
    bind: HOST,
    port,
    'cluster-port': busPort,
    'cluster-enabled': 'yes',
    'cluster-config-file': `nodes-${port}.conf`,
    'cluster-node-timeout': 1_000,
    // The other nodes continue when one is down.
    'cluster-require-full-coverage': 'no',
    'repl-diskless-sync-delay': 0,
    requirepass: PASSWORD,
    masterauth: PASSWORD,
    dir: folder,
    save: '',
  };
  return { ...(await startRedis(port, wordsOf(options))), busPort };
}
