import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import type { EventType } from './event-types.js';
import { WebhookOutboxEvent } from './webhook-outbox-event.entity.js';

export interface RaisedEvent {
  readonly organisationId: string;
  /** null: it concerns the organisation as a whole. */
  readonly workspaceId: string | null;
  readonly type: EventType;
  /** Two events with the same key are one. */
  readonly key: string;
  readonly payload: Record<string, unknown>;
}

/** Before the key of an event whose key may be forgotten with it: see `WebhookRetention`. */
export const NOTICE = 'notice:';

const INSERT = `
  INSERT INTO "webhook_outbox" ("organisation_id", "workspace_id", "type", "dedupe_key", "payload")
  VALUES ($1, $2, $3, $4, $5) ON CONFLICT ("dedupe_key") DO NOTHING`;

/** Raises events of other rooms. */
@Injectable()
export class WebhookEvents {
  constructor(@InjectRepository(WebhookOutboxEvent) private readonly rows: Repository<WebhookOutboxEvent>) {}

  /** In the transaction in which it happened, if there is one. */
  async raise({ key, ...event }: RaisedEvent, manager: EntityManager = this.rows.manager): Promise<void> {
    const { organisationId, workspaceId, type, payload } = event;
    const values = [organisationId, workspaceId, type, `${NOTICE}${type}:${key}`, JSON.stringify(payload)];
    await manager.query(INSERT, values);
  }
}
