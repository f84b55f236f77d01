import { Injectable } from '@nestjs/common';

/** An endpoint of a provider, which the modules register at start. */
export interface Offer {
  /** The name in usage limits and the ledger: `rerank`, `batches`. */
  readonly endpoint: string;
  /** The provider's slug. */
  readonly provider: string;
  /** Whether its calls are counted against usage limits. */
  readonly isMetered: boolean;
}

/**
 * All endpoints of the gateway. The modules register theirs, so that a new provider of an endpoint is known everywhere.
 */
@Injectable()
export class OfferedEndpoints {
  readonly #offers: Offer[] = [];

  add(offers: readonly Offer[]): void {
    this.#offers.push(...offers);
  }

  get endpoints(): readonly string[] {
    return [...new Set(this.#offers.map(({ endpoint }) => endpoint))].sort();
  }

  get metered(): readonly Offer[] {
    return this.#offers.filter(({ isMetered }) => isMetered);
  }
}
