import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { describeDefect } from '../common/errors/describe-error.js';
import { Clock } from '../common/time/clock.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import type { Provider } from '../upstream/providers/provider.types.js';
import { WebhookEvents } from '../webhooks/webhook-events.js';

const HOUR_MS = 3_600_000;
const MAX_KEYS = 10_000;

interface RefusedKey {
  readonly id: string;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly slug: string;
  readonly provider: Pick<Provider, 'slug'>;
}

/** Raises an event when a provider refuses a credential: one an hour for each virtual key. No request waits for it. */
@Injectable()
export class CredentialRefusals {
  readonly #noted = new LRUCache<string, number>({ max: MAX_KEYS });

  constructor(
    private readonly events: WebhookEvents,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  note({ id, organisationId, workspaceId, slug, provider }: RefusedKey): void {
    const hour = Math.floor(this.clock.now().getTime() / HOUR_MS);
    if (this.#noted.get(id) === hour) return;
    this.#noted.set(id, hour);
    const payload = { virtual_key_id: id, slug, provider: provider.slug };
    const event = {
      organisationId,
      workspaceId,
      type: 'virtual_key.credential_refused',
      key: `${id}:${hour}`,
    } as const;
    this.events.raise({ ...event, payload }).catch((cause: unknown) => {
      this.#noted.delete(id);
      this.logger.warn({ event: 'refusal_not_reported', virtual_key_id: id, error: describeDefect(cause) });
    });
  }
}
