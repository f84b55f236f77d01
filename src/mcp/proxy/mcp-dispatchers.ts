import type { Client, Dispatcher } from 'undici';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { CallDeadline } from '../../upstream/call-deadline.js';
import type { ConnectionHolder } from '../../upstream/connection-holder.js';
import { type EgressPolicy, MAX_NAMED_URL_LENGTH } from '../../upstream/egress/egress-policy.js';
import { guardedConnector, type GuardedConnectorOptions } from '../../upstream/egress/guarded-connector.js';
import { ExchangeClient, openPool } from '../../upstream/exchange-client.js';
import { toExchangeError } from '../../upstream/exchange-failure.js';
import { OriginPools } from '../../upstream/origin-pools.js';

const MAX_ORIGINS = 128;
/** High on purpose, a bound against accidents only: the answer to a POST may be a stream, and streams must not use up the pool. */
const CALLS_PER_ORIGIN = 4_096;

const CONNECTION_OPTIONS = {
  pipelining: 1,
  // Less than the 5 s after which Node and uvicorn close an idle connection: a POST that is sent at that moment cannot be repeated.
  keepAliveTimeout: 4_000,
  headersTimeout: 0,
  bodyTimeout: 0,
} as const satisfies Client.Options;

/** A dispatcher for one exchange. Call `release` when the exchange is over. */
export interface Lease {
  readonly dispatcher: Dispatcher;
  release(): void;
}

/**
 * Connections to MCP servers. Calls share one pool per origin, of which each server and organisation has its share. Every GET has its own connection, so that any number of
 * idle streams never delays a call.
 */
export class McpDispatchers {
  readonly #connect: ReturnType<typeof guardedConnector>;
  readonly #pools: OriginPools;
  readonly #streams = new Set<ExchangeClient>();

  constructor(
    private readonly policy: EgressPolicy,
    options: GuardedConnectorOptions,
  ) {
    const connect = guardedConnector(policy, options);
    this.#connect = connect;
    this.#pools = new OriginPools({
      maxOrigins: MAX_ORIGINS,
      connectionsPerOrigin: CALLS_PER_ORIGIN,
      open: (origin, connections) => openPool(origin, { ...CONNECTION_OPTIONS, connect, connections }),
    });
  }

  /** @throws UpstreamFailure `refused_by_egress`, `busy` */
  forCall(url: URL, server: ConnectionHolder | undefined, limits: CallDeadline): MaybePromise<Lease> {
    this.#check(url);
    const gate = this.#pools.at(url.origin);
    const share = gate.shareOf(server);
    const lease = { dispatcher: gate.pool, release: () => share.release() };
    return gate.tryEnter(share) ? lease : gate.wait(share, limits, url.host).then(() => lease);
  }

  /** @throws UpstreamFailure `refused_by_egress` */
  forStream(url: URL): Lease {
    this.#check(url);
    const dispatcher = new ExchangeClient(url.origin, this.#connect, CONNECTION_OPTIONS);
    this.#streams.add(dispatcher);
    const release = (): void => {
      this.#streams.delete(dispatcher);
      // Rejects only when the client is destroyed already.
      dispatcher.destroy().catch(() => undefined);
    };
    return { dispatcher, release };
  }

  async close(): Promise<void> {
    const streams = [...this.#streams];
    this.#streams.clear();
    await Promise.all([this.#pools.close(), ...streams.map((stream) => stream.destroy().catch(() => undefined))]);
  }

  #check(url: URL): void {
    try {
      this.policy.checkUrl(url, MAX_NAMED_URL_LENGTH);
    } catch (error) {
      throw toExchangeError(error, 'unsent', url.host);
    }
  }
}
