import { Column, CreateDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { EventType } from './event-types.js';

/**
 * An event, for all endpoints that subscribe to it. Written in the transaction in which it happened, also by plain
 * SQL, so that the one is never there without the other.
 */
@Entity('webhook_outbox')
@Index('ix_webhook_outbox_waiting', ['createdAt'], { where: '"dispatched_at" IS NULL' })
export class WebhookOutboxEvent {
  /** The `webhook-id` of all its deliveries. */
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_webhook_outbox' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null: it concerns the organisation as a whole. */
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ type: 'varchar', length: 64 })
  readonly type!: EventType;

  /** Two events with the same key are one. */
  @Index('uq_webhook_outbox_dedupe_key', { unique: true })
  @Column({ name: 'dedupe_key', type: 'varchar', length: 255, nullable: true })
  readonly dedupeKey!: string | null;

  /** `data` of the body that is sent. */
  @Column({ type: 'jsonb' })
  readonly payload!: Record<string, unknown>;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  /** When its deliveries were written; null: not yet. */
  @Column({ name: 'dispatched_at', type: 'timestamptz', nullable: true })
  readonly dispatchedAt!: Date | null;
}
