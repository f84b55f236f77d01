import { Injectable } from '@nestjs/common';

/** An endpoint at a provider, as the rooms announce theirs when they start. */
export interface Offer {
  /** As usage limits and the ledger name it: `rerank`, `batches`. */
  readonly endpoint: string;
  /** The slug. */
  readonly provider: string;
  /** Whether its calls are counted against usage limits. */
  readonly isMetered: boolean;
}

/** What the gateway offers: no list of its own, so that a new provider of an endpoint is known everywhere. */
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
