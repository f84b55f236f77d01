import {
  Column,
  CreateDateColumn,
  Entity,
  ForeignKey,
  Index,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VirtualColumn,
} from 'typeorm';
import { type MappedField, mappingsOfOwner } from '../secret-references/secret-mapping.entity.js';
import type { ProviderSlug } from '../upstream/providers/provider.types.js';

/** A provider, a credential for it and options, under a slug that callers name in `x-gateway-virtual-key`. */
@Entity('virtual_keys')
@Index('uq_virtual_keys_workspace_slug', ['organisationId', 'workspaceId', 'slug'], {
  unique: true,
  where: '"workspace_id" IS NOT NULL',
})
@Index('uq_virtual_keys_organisation_slug', ['organisationId', 'slug'], {
  unique: true,
  where: '"workspace_id" IS NULL',
})
export class VirtualKey {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_virtual_keys' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_virtual_keys_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null: for every workspace of the organisation. */
  @ForeignKey('Workspace', { name: 'fk_virtual_keys_workspace' })
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ type: 'varchar', length: 255 })
  readonly slug!: string;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  @Column({ type: 'varchar', length: 1024, nullable: true })
  description!: string | null;

  @Column({ type: 'varchar', length: 64 })
  readonly provider!: ProviderSlug;

  /** The fields of `config` that are not secret. */
  @Column({ type: 'jsonb', default: {} })
  options!: Record<string, unknown>;

  /** The provider's key, sealed. */
  @Column({ name: 'sealed_key', type: 'text', nullable: true, select: false })
  sealedKey!: string | null;

  /** The sensitive fields of `config` as JSON, sealed. */
  @Column({ name: 'sealed_options', type: 'text', nullable: true, select: false })
  sealedOptions!: string | null;

  /** Fields that take their values from secret references instead. */
  @VirtualColumn('json', { query: mappingsOfOwner('virtual-key') })
  readonly secretMappings!: readonly MappedField[];

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;

  @UpdateDateColumn({ name: 'updated_at', type: 'timestamptz' })
  readonly updatedAt!: Date;
}
