import {
  Column,
  CreateDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryGeneratedColumn,
  type Relation,
  UpdateDateColumn,
} from 'typeorm';
import type { BodyLogging } from '../access/principal.js';
import { Organisation } from './organisation.entity.js';

export interface WorkspaceDefaults {
  /** Metadata of every request of the workspace, unless the request or its key says otherwise. */
  readonly metadata?: Readonly<Record<string, string>>;
}

@Entity('workspaces')
@Index('uq_workspaces_slug', ['organisationId', 'slug'], { unique: true })
export class Workspace {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_workspaces' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @ManyToOne(() => Organisation)
  @JoinColumn({ name: 'organisation_id', foreignKeyConstraintName: 'fk_workspaces_organisation' })
  readonly organisation?: Relation<Organisation>;

  @Column({ type: 'varchar', length: 255 })
  slug!: string;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  @Column({ type: 'varchar', length: 1024, nullable: true })
  description!: string | null;

  @Column({ type: 'jsonb', default: {} })
  defaults!: WorkspaceDefaults;

  /** null: no bodies of calls are kept. */
  @Column({ name: 'log_bodies', type: 'jsonb', nullable: true })
  logBodies!: BodyLogging | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}

/** The workspace that every organisation begins with. */
export const DEFAULT_WORKSPACE = {
  slug: 'default',
  name: 'Default',
  description: null,
  defaults: {},
  logBodies: null,
} as const;
