import { Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';

export const SECRET_OWNER_TYPES = ['virtual-key', 'mcp-server'] as const;
export type SecretOwnerType = (typeof SECRET_OWNER_TYPES)[number];

export const VALUE_FORMATS = ['string', 'json'] as const;
export type ValueFormat = (typeof VALUE_FORMATS)[number];

/** One field of a resource that takes its value from a secret reference. */
@Entity('secret_mappings')
@Index('uq_secret_mappings_owner_field', ['ownerType', 'ownerId', 'targetField'], { unique: true })
@Index('ix_secret_mappings_reference', ['secretReferenceId'])
export class SecretMapping {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_secret_mappings' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_secret_mappings_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @Column({ name: 'owner_type', type: 'varchar', length: 32 })
  readonly ownerType!: SecretOwnerType;

  @Column({ name: 'owner_id', type: 'uuid' })
  readonly ownerId!: string;

  /** Names the owner when its use of the reference stands in the way. Slugs never change. */
  @Column({ name: 'owner_slug', type: 'varchar', length: 255 })
  readonly ownerSlug!: string;

  /** Workspace of the owner; null: the whole organisation. */
  @Column({ name: 'owner_workspace_id', type: 'uuid', nullable: true })
  readonly ownerWorkspaceId!: string | null;

  /** A path in the owner's own body: `key`, `config.<field>`, `headers.<name>`. */
  @Column({ name: 'target_field', type: 'varchar', length: 255 })
  readonly targetField!: string;

  /** A reference that is in use cannot be deleted. */
  @ForeignKey('SecretReference', { name: 'fk_secret_mappings_reference' })
  @Column({ name: 'secret_reference_id', type: 'uuid' })
  readonly secretReferenceId!: string;

  /** Instead of the reference's own; null: the reference's. */
  @Column({ name: 'secret_key', type: 'varchar', length: 255, nullable: true })
  readonly secretKey!: string | null;

  @Column({ name: 'value_format', type: 'varchar', length: 8, default: 'string' })
  readonly valueFormat!: ValueFormat;
}

/** A mapping as its owner has it. */
export type MappedField = Pick<SecretMapping, 'targetField' | 'secretReferenceId' | 'secretKey' | 'valueFormat'>;

/**
 * For a `@VirtualColumn` of an owner: its mappings (MappedField[]), read by the same statement as the owner itself. So a
 * page of owners needs no further query, and an owner is never seen with the mappings of another moment.
 */
export function mappingsOfOwner(ownerType: SecretOwnerType): (alias: string) => string {
  return (alias) => `
    SELECT COALESCE(
      json_agg(
        json_build_object(
          'targetField', "mapping"."target_field", 'secretReferenceId', "mapping"."secret_reference_id",
          'secretKey', "mapping"."secret_key", 'valueFormat', "mapping"."value_format"
        ) ORDER BY "mapping"."target_field" COLLATE "C"
      ),
      '[]'
    ) FROM "secret_mappings" "mapping"
    WHERE "mapping"."owner_type" = '${ownerType}' AND "mapping"."owner_id" = ${alias}."id"`;
}
