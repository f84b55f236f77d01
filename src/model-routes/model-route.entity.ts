import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryGeneratedColumn, UpdateDateColumn } from 'typeorm';
import type { Condition } from '../policies/conditions.js';

/** A model of a virtual key. */
export interface ModelTarget {
  readonly virtualKeyId: string;
  /** Its slug, which never changes. */
  readonly virtualKey: string;
  /** As its provider knows it. */
  readonly model: string;
  /** The model behind that name, whose prices and bounds count; absent: the name says it. */
  readonly baseModel?: string;
  /** Lower ones are tried first. */
  readonly order: number;
  /** Its share of the calls, among those of the same order; absent on all of these: the first takes them. */
  readonly weight?: number;
  /** That a call must meet for this target; absent: it takes every call. */
  readonly conditions?: readonly Condition[];
  readonly minEstimatedTokens?: number;
  readonly maxEstimatedTokens?: number;
  /** The least share, from 0 to 1, that the usage limits of a call must have left. */
  readonly minBudgetLeft?: number;
  /** Milliseconds until an answer begins; absent: the limits of the virtual key and of the gateway hold. */
  readonly timeoutMs?: number;
}

/** A name of a model that leads to a model of a virtual key. */
@Entity('model_routes')
@Index('uq_model_routes_workspace_slug', ['organisationId', 'workspaceId', 'slug'], {
  unique: true,
  where: '"workspace_id" IS NOT NULL',
})
@Index('uq_model_routes_organisation_slug', ['organisationId', 'slug'], {
  unique: true,
  where: '"workspace_id" IS NULL',
})
@Index('uq_model_routes_workspace_name', ['organisationId', 'workspaceId', 'name'], {
  unique: true,
  where: '"workspace_id" IS NOT NULL',
})
@Index('uq_model_routes_organisation_name', ['organisationId', 'name'], {
  unique: true,
  where: '"workspace_id" IS NULL',
})
export class ModelRoute {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_model_routes' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_model_routes_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null: for every workspace of the organisation. */
  @ForeignKey('Workspace', { name: 'fk_model_routes_workspace' })
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ type: 'varchar', length: 255 })
  readonly slug!: string;

  /** What callers write as `model`. */
  @Column({ type: 'varchar', length: 255 })
  name!: string;

  @Column({ type: 'varchar', length: 1024, nullable: true })
  description!: string | null;

  @Column({ type: 'jsonb' })
  targets!: readonly ModelTarget[];

  /** null: no cap of the route's own. */
  @Column({ name: 'max_output_tokens', type: 'integer', nullable: true })
  maxOutputTokens!: number | null;

  /** Whether a call that does not fit into its usage limits gets a lower cap of its output. */
  @Column({ name: 'clamp_output', type: 'boolean', default: false })
  clampOutput!: boolean;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}
