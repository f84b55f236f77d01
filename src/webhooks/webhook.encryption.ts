import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { placeIn, SealError, type SealedPlace, Sealer } from '../sealing/sealer.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';

/** Standard Webhooks: 24 to 64 bytes. */
const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';

type EndpointRow = Pick<WebhookEndpoint, 'id' | 'organisationId'>;

const currentPlace = placeIn('webhook_endpoints', 'sealed_secret');
const previousPlace = placeIn('webhook_endpoints', 'sealed_previous_secret');

/** The columns that hold the secrets of an endpoint. */
export type SealedSecrets = Pick<WebhookEndpoint, 'sealedSecret' | 'sealedPreviousSecret' | 'previousSecretValidUntil'>;

export interface IssuedSecret {
  /** `whsec_…`, to be shown once. */
  readonly secret: string;
  readonly columns: SealedSecrets;
}

/** Makes, seals and opens the secrets that sign deliveries. Each is bound to its tenant, endpoint and column. */
@Injectable()
export class WebhookEncryptor {
  constructor(private readonly sealer: Sealer) {}

  /** The first secret of an endpoint. */
  issue(row: EndpointRow): IssuedSecret {
    const secret = newSecret();
    const sealedSecret = this.sealer.seal(secret, currentPlace(row));
    return { secret, columns: { sealedSecret, sealedPreviousSecret: null, previousSecretValidUntil: null } };
  }

  /** A new secret. The one before goes on signing until `previousValidUntil`; undefined ends it at once. */
  rotate(row: EndpointRow & SealedSecrets, previousValidUntil: Date | undefined): IssuedSecret {
    const issued = this.issue(row);
    const previous =
      previousValidUntil === undefined ? undefined : this.openIfPossible(row.sealedSecret, currentPlace(row));
    if (previous === undefined || previousValidUntil === undefined) return issued;
    const sealedPreviousSecret = this.sealer.seal(previous, previousPlace(row));
    return {
      secret: issued.secret,
      columns: { ...issued.columns, sealedPreviousSecret, previousSecretValidUntil: previousValidUntil },
    };
  }

  /**
   * The secrets that sign at this time, the newest first. A former one that does not open is left out: receivers that have
   * the new one should not wait for it.
   * @throws SealError when the current one is damaged or its master key is not configured
   */
  signingSecrets(row: EndpointRow & SealedSecrets, now: Date): readonly string[] {
    const current = this.sealer.open(row.sealedSecret, currentPlace(row));
    const { sealedPreviousSecret: previous, previousSecretValidUntil: end } = row;
    if (previous === null || end === null || end <= now) return [current];
    const former = this.openIfPossible(previous, previousPlace(row));
    return former === undefined ? [current] : [current, former];
  }

  /** undefined when it does not decrypt: a former secret must not block a new one. */
  private openIfPossible(sealed: string, place: SealedPlace): string | undefined {
    try {
      return this.sealer.open(sealed, place);
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}

function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}
