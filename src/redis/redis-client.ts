import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { withoutBrackets } from '../common/http/without-brackets.js';
import type { AppConfig } from '../config/environment.js';

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 1_000;
/** Tries of a command, 100 ms apart, while a cluster replaces a node. */
const CLUSTER_TRIES = 5;
/** Else a server that vanished without a word keeps its connection for as long as TCP goes on trying: some 15 minutes. */
const SOCKET_TIMEOUT_MS = 3_000;

const CONNECTION = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  maxRetriesPerRequest: 1,
} satisfies RedisOptions;

export type RedisClient = Redis | Cluster;

/** Not connected yet. A command fails at once while there is no connection; undefined without a Redis in the settings. */
export function createRedisClient({ REDIS_URL, REDIS_CLUSTER_URLS }: AppConfig): RedisClient | undefined {
  if (REDIS_CLUSTER_URLS.length > 0) return createCluster(REDIS_CLUSTER_URLS.map((url) => new URL(url)));
  if (REDIS_URL === undefined) return undefined;
  return new Redis(REDIS_URL, {
    ...CONNECTION,
    enableOfflineQueue: false,
    lazyConnect: true,
    reconnectOnError: takesNoWrites,
  });
}

/** @param urls have one scheme, user name and password, which count for the nodes found later too */
function createCluster(urls: readonly URL[]): Cluster {
  const [first] = urls;
  const nodes = urls.map(({ hostname, port }) => ({
    host: withoutBrackets(hostname),
    port: port === '' ? undefined : Number(port),
  }));
  return new Cluster(nodes, {
    enableOfflineQueue: false,
    lazyConnect: true,
    maxRedirections: CLUSTER_TRIES,
    // Names stay names, and so a certificate is checked against them, and an address may change.
    dnsLookup: (host, done) => done(null, host),
    redisOptions: {
      ...CONNECTION,
      username: first?.username ? decodeURIComponent(first.username) : undefined,
      password: first?.password ? decodeURIComponent(first.password) : undefined,
      tls: first?.protocol === 'rediss:' ? {} : undefined,
    },
  });
}

/** Whether a command failed at a replica. Its server was the primary, as a rule: by now the address leads to another one. */
function takesNoWrites({ message }: Error): boolean {
  return message.includes('READONLY');
}
