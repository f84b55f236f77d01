import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event on its way to one endpoint. */
@Entity('webhook_deliveries')
@Index('uq_webhook_deliveries_outbox_endpoint', ['outboxId', 'endpointId'], { unique: true })
@Index('ix_webhook_deliveries_log', ['endpointId', 'createdAt'])
@Index('ix_webhook_deliveries_due', ['endpointId', 'nextAttemptAt'], { where: `"status" = 'pending'` })
@Index('ix_webhook_deliveries_succeeded', ['completedAt'], { where: `"status" = 'succeeded'` })
export class WebhookDelivery {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_webhook_deliveries' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_webhook_deliveries_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @ForeignKey('WebhookOutboxEvent', { name: 'fk_webhook_deliveries_outbox' })
  @Column({ name: 'outbox_id', type: 'uuid' })
  readonly outboxId!: string;

  @ForeignKey('WebhookEndpoint', { name: 'fk_webhook_deliveries_endpoint', onDelete: 'CASCADE' })
  @Column({ name: 'endpoint_id', type: 'uuid' })
  readonly endpointId!: string;

  @Column({ name: 'event_type', type: 'varchar', length: 64 })
  readonly eventType!: string;

  @Column({ type: 'varchar', length: 16, default: 'pending' })
  status!: DeliveryStatus;

  /** Attempts that came to an end. */
  @Column({ type: 'integer', default: 0 })
  attempts!: number;

  /** While it is being sent: when another gateway may take it for abandoned. null: never again. */
  @Column({ name: 'next_attempt_at', type: 'timestamptz', nullable: true })
  nextAttemptAt!: Date | null;

  /** Set while it is being sent. A gateway that returns with another id has lost the delivery to another gateway. */
  @Column({ name: 'claim_id', type: 'uuid', nullable: true })
  claimId!: string | null;

  @Column({ name: 'last_attempt_at', type: 'timestamptz', nullable: true })
  lastAttemptAt!: Date | null;

  @Column({ name: 'last_status_code', type: 'integer', nullable: true })
  lastStatusCode!: number | null;

  /** Why the last attempt failed, when there was no answer. */
  @Column({ name: 'last_error', type: 'varchar', length: 64, nullable: true })
  lastError!: string | null;

  @Column({ name: 'last_latency_ms', type: 'integer', nullable: true })
  lastLatencyMs!: number | null;

  /** When it succeeded or failed for good. */
  @Column({ name: 'completed_at', type: 'timestamptz', nullable: true })
  completedAt!: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
