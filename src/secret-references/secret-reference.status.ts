import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import type { Repository } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { WebhookEvents } from '../webhooks/webhook-events.js';
import type { SecretErrorCode } from './managers/secret-manager.types.js';
import { SecretReference } from './secret-reference.entity.js';

/** The same outcome of the same reference is written no more often than this. */
const WRITE_EVERY_MS = 5_000;
const MAX_REFERENCES = 10_000;

/** Writes the outcome of the last fetch of a secret to its row. No request waits for it, and nothing depends on it. */
@Injectable()
export class SecretReferenceStatus {
  readonly #written = new LRUCache<string, { readonly error: SecretErrorCode | null; readonly at: number }>({
    max: MAX_REFERENCES,
  });

  constructor(
    @InjectRepository(SecretReference) private readonly rows: Repository<SecretReference>,
    private readonly clock: Clock,
    private readonly events: WebhookEvents,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** `error` null: the fetch went well. */
  note(reference: Pick<SecretReference, 'id' | 'organisationId'>, error: SecretErrorCode | null): void {
    const at = this.clock.monotonic();
    const last = this.#written.get(reference.id);
    if (last?.error === error && at - last.at < WRITE_EVERY_MS) return;
    this.#written.set(reference.id, { error, at });
    this.write(reference, error, this.clock.now()).catch(() => {
      this.logger.debug({ event: 'secret_status_not_written', secret_reference_id: reference.id });
    });
  }

  private async write(
    { id, organisationId }: Pick<SecretReference, 'id' | 'organisationId'>,
    lastError: SecretErrorCode | null,
    now: Date,
  ): Promise<void> {
    const update = this.rows
      .createQueryBuilder()
      .update()
      // The row itself has not changed, so neither does the time of its last change.
      .set({ lastError, ...(lastError === null ? { lastResolvedAt: now } : {}), updatedAt: () => '"updated_at"' })
      .where({ id, organisationId });
    if (lastError === null) return void (await update.execute());
    const { affected } = await update.andWhere('last_error IS DISTINCT FROM :lastError', { lastError }).execute();
    const row = affected === 1 ? await this.rows.findOneBy({ id, organisationId }) : null;
    if (row === null) return;
    const payload = { secret_reference_id: id, slug: row.slug, name: row.name, error: lastError };
    // One that fails now and then raises one event an hour.
    const key = `${id}:${lastError}:${now.toISOString().slice(0, 13)}`;
    await this.events.raise({ organisationId, workspaceId: null, type: 'secret_reference.failed', key, payload });
  }
}
