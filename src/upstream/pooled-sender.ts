import type { MaybePromise } from '../common/maybe-promise.js';
import type { ConnectionGate, ConnectionShare } from './connection-gate.js';
import type { EgressPolicy } from './egress/egress-policy.js';
import { toExchangeError } from './exchange-failure.js';
import type { OriginPools } from './origin-pools.js';
import type { AttemptSender } from './retry-loop.js';
import { type ExchangePlan, leastLeftMs, StreamExchange, tooLate, wireRequest } from './stream-exchange.js';
import type { UploadBody } from './upload-body.js';
import type { RelayedAnswer, UpstreamCall, UpstreamRequest } from './upstream.types.js';

/** Sends the attempts of one call over the pools. */
export class PooledSender implements AttemptSender {
  constructor(
    private readonly policy: EgressPolicy,
    private readonly pools: OriginPools,
    private readonly call: Pick<UpstreamCall, 'holder'> & { readonly request: Pick<UpstreamRequest, 'url'> },
    private readonly plan: ExchangePlan,
    private readonly upload?: UploadBody,
  ) {}

  connect(): MaybePromise<ConnectionShare | undefined> {
    const { url } = this.call.request;
    // An attempt that is refused has an outcome too, so `send` is what fails.
    if (this.refusalOf(url) !== undefined) return undefined;
    const gate = this.pools.at(url.origin);
    const share = gate.shareOf(this.call.holder);
    return gate.tryEnter(share) ? share : this.wait(gate, share);
  }

  send(request: UpstreamRequest, connection: ConnectionShare | undefined): Promise<RelayedAnswer> {
    if (connection === undefined) throw this.refusalOf(request.url);
    return new StreamExchange(wireRequest(request, this.upload), this.plan, connection).run(connection.gate.pool);
  }

  private async wait(gate: ConnectionGate, share: ConnectionShare): Promise<ConnectionShare> {
    const { limits } = this.plan;
    const { host } = this.call.request.url;
    const leastMs = leastLeftMs(limits);
    await gate.wait(share, limits, host);
    if (limits.remainingMs >= leastMs) return share;
    share.release();
    throw tooLate(host);
  }

  private refusalOf(url: URL): unknown {
    try {
      this.policy.checkUrl(url);
      return undefined;
    } catch (error) {
      return toExchangeError(error, 'unsent', url.host);
    }
  }
}
