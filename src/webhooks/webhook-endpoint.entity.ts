import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';
import type { SubscribableEvent } from './event-types.js';

export const WEBHOOK_FORMATS = ['standard', 'slack'] as const;
/** `slack`: a text that Slack, and programs that read its form, show as a message. */
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** `administrator`: a caller of the API switched it off. `gone`: the receiver answered 410. */
export type DisabledReason = 'administrator' | 'gone';

/** An address that events are sent to, signed with its own secret. */
@Entity('webhook_endpoints')
@Index('ix_webhook_endpoints_tenant', ['organisationId'])
export class WebhookEndpoint {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_webhook_endpoints' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_webhook_endpoints_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null: gets the events of every workspace, and of the organisation itself. */
  @ForeignKey('Workspace', { name: 'fk_webhook_endpoints_workspace' })
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ type: 'varchar', length: 2048 })
  url!: string;

  @Column({ type: 'text', array: true })
  events!: SubscribableEvent[];

  @Column({ type: 'varchar', length: 16, default: 'standard' })
  format!: WebhookFormat;

  @Column({ type: 'varchar', length: 1024, nullable: true })
  description!: string | null;

  @Column({ name: 'sealed_secret', type: 'text', select: false })
  sealedSecret!: string;

  /** Signs too during a rotation. */
  @Column({ name: 'sealed_previous_secret', type: 'text', nullable: true, select: false })
  sealedPreviousSecret!: string | null;

  @Column({ name: 'previous_secret_valid_until', type: 'timestamptz', nullable: true })
  previousSecretValidUntil!: Date | null;

  /** null: enabled. */
  @Column({ name: 'disabled_at', type: 'timestamptz', nullable: true })
  disabledAt!: Date | null;

  @Column({ name: 'disabled_reason', type: 'varchar', length: 32, nullable: true })
  disabledReason!: DisabledReason | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}
