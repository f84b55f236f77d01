import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { withoutBrackets } from '../common/http/without-brackets.js';
import type { AppConfig } from '../config/environment.js';

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 1_000;
/** Tries of a command, 100 ms apart, while a cluster replaces a node. */
const CLUSTER_TRIES = 5;
/** Else a server that vanished without a word keeps its connection for as long as TCP goes on trying: some 15 minutes. */
const SOCKET_TIMEOUT_MS = 3_000;
const RECONNECT_STEP_MS = 50;
const MAX_RECONNECT_MS = 2_000;

const CONNECTION = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  maxRetriesPerRequest: 1,
  retryStrategy: (tries: number) => Math.min(tries * RECONNECT_STEP_MS, MAX_RECONNECT_MS),
  // What RESP3 adds is not used, and not every server and proxy has it.
  protocol: 2,
} satisfies RedisOptions;

export type RedisClient = Redis | Cluster;

/** Not connected yet. A command fails at once while there is no connection; undefined without a Redis in the settings. */
export function createRedisClient(config: AppConfig): RedisClient | undefined {
  const [cluster, sentinels] = [config.REDIS_CLUSTER_URLS, config.REDIS_SENTINEL_URLS].map(serversOf);
  if (cluster !== undefined) return createCluster(cluster);
  if (config.REDIS_URL === undefined) return undefined;
  return new Redis(config.REDIS_URL, {
    ...CONNECTION,
    ...(sentinels === undefined ? {} : askedOf(sentinels, new URL(config.REDIS_URL).hostname)),
    enableOfflineQueue: false,
    lazyConnect: true,
    reconnectOnError: takesNoWrites,
  });
}

/** Servers of one kind, which take the same user name and password. */
interface Servers {
  readonly addresses: readonly { readonly host: string; readonly port?: number }[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: ConnectionOptions | undefined;
}

/** @param texts URLs with one scheme, user name and password */
function serversOf(texts: readonly string[]): Servers | undefined {
  const urls = texts.map((text) => new URL(text));
  const [first] = urls;
  if (first === undefined) return undefined;
  return {
    addresses: urls.map(({ hostname, port }) => ({
      host: withoutBrackets(hostname),
      ...(port === '' ? {} : { port: Number(port) }),
    })),
    username: first.username === '' ? undefined : decodeURIComponent(first.username),
    password: first.password === '' ? undefined : decodeURIComponent(first.password),
    tls: first.protocol === 'rediss:' ? {} : undefined,
  };
}

/** @param name that the sentinels have for a primary and its replicas; whichever is the primary is connected to */
function askedOf({ addresses, username, password, tls }: Servers, name: string): RedisOptions {
  return {
    sentinels: [...addresses],
    name,
    sentinelUsername: username,
    sentinelPassword: password,
    sentinelTLS: tls,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    // Else `rediss:` of the servers would count for nothing.
    enableTLSForSentinelMode: true,
  };
}

function createCluster({ addresses, username, password, tls }: Servers): Cluster {
  return new Cluster([...addresses], {
    enableOfflineQueue: false,
    lazyConnect: true,
    maxRedirections: CLUSTER_TRIES,
    // Names stay names, and so a certificate is checked against them, and an address may change.
    dnsLookup: (host, done) => done(null, host),
    redisOptions: {
      ...CONNECTION,
      username,
      password,
      tls,
    },
  });
}

/** Whether a command failed at a replica. Its server was the primary, as a rule: by now the address leads to another one. */
function takesNoWrites({ message }: Error): boolean {
  return message.includes('READONLY');
}
