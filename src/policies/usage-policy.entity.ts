import {
  Check,
  Column,
  CreateDateColumn,
  Entity,
  ForeignKey,
  Index,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
} from 'typeorm';
import type { UsageUnit } from '../common/money/units.js';
import type { WindowKind } from '../usage/windows.js';
import type { Condition } from './conditions.js';
import type { PolicyKey } from './policy-keys.js';

export const PERIODIC_RESETS = ['monthly', 'weekly'] as const;
export type PeriodicReset = (typeof PERIODIC_RESETS)[number];

export const ENFORCEMENTS = ['strict', 'monitor'] as const;
export type Enforcement = (typeof ENFORCEMENTS)[number];

export const UNBOUNDED_CALLS = ['refuse', 'allow'] as const;
export type UnboundedCalls = (typeof UNBOUNDED_CALLS)[number];

export const POLICY_STATUSES = ['active', 'archived'] as const;
export type PolicyStatus = (typeof POLICY_STATUSES)[number];

/** A cap on the usage of a group of calls. Counters are stored elsewhere, so a change here never touches them. */
@Entity('usage_policies')
@Check(
  'ck_usage_policies_active_workspace',
  `"active_workspace_id" IS NOT DISTINCT FROM CASE WHEN "status" = 'active' THEN "workspace_id" END`,
)
@Index('uq_usage_policies_workspace_slug', ['organisationId', 'workspaceId', 'slug'], {
  unique: true,
  where: `"workspace_id" IS NOT NULL AND "status" = 'active'`,
})
@Index('uq_usage_policies_organisation_slug', ['organisationId', 'slug'], {
  unique: true,
  where: `"workspace_id" IS NULL AND "status" = 'active'`,
})
@Index('ix_usage_policies_tenant', ['organisationId', 'status'])
export class UsagePolicy {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_usage_policies' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_usage_policies_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null: applies to every workspace of the organisation. The workspace of an archived policy may be gone. */
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  /**
   * Equals `workspace_id` while the policy is active, null when it is archived, so that only active policies prevent
   * the deletion of a workspace.
   */
  @ForeignKey('Workspace', { name: 'fk_usage_policies_workspace' })
  @Column({ name: 'active_workspace_id', type: 'uuid', nullable: true })
  activeWorkspaceId!: string | null;

  /** Of an archived policy it may belong to another one by now. */
  @Column({ type: 'varchar', length: 255 })
  readonly slug!: string;

  @Column({ type: 'varchar', length: 255, nullable: true })
  name!: string | null;

  @Column({ type: 'varchar', length: 1024, nullable: true })
  description!: string | null;

  @Column({ type: 'jsonb' })
  conditions!: Condition[];

  @Column({ name: 'group_by', type: 'text', array: true })
  readonly groupBy!: PolicyKey[];

  @Column({ type: 'varchar', length: 16 })
  readonly type!: UsageUnit;

  /** In US dollars or tokens. A decimal, as text: floats lose money. */
  @Column({ name: 'credit_limit', type: 'numeric' })
  creditLimit!: string;

  @Column({ name: 'alert_threshold', type: 'numeric', nullable: true })
  alertThreshold!: string | null;

  /** null: usage is never reset. */
  @Column({ name: 'periodic_reset', type: 'varchar', length: 16, nullable: true })
  periodicReset!: WindowKind;

  @Column({ type: 'varchar', length: 16, default: 'strict' })
  enforcement!: Enforcement;

  /** Of calls whose usage has no bound before they are made. */
  @Column({ type: 'varchar', length: 16, default: 'refuse' })
  unbounded!: UnboundedCalls;

  @Column({ type: 'varchar', length: 16, default: 'active' })
  status!: PolicyStatus;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}
