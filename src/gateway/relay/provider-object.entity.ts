import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { ProviderObjectKind } from './relay-route.js';

/** The owner of an object at a provider that was created through the gateway. */
@Entity('provider_objects')
@Index('uq_provider_objects_upstream', ['organisationId', 'provider', 'server', 'kind', 'upstreamId'], { unique: true })
export class ProviderObject {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_provider_objects' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_provider_objects_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null: created by a key of the whole organisation through a virtual key of the whole organisation. */
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ name: 'api_key_id', type: 'uuid' })
  readonly apiKeyId!: string;

  @Column({ type: 'varchar', length: 64 })
  readonly provider!: string;

  /**
   * The server that issued the id: a digest of its base URL, empty for the provider's own server. Older rows have null,
   * which matches every server.
   */
  @Column({ type: 'varchar', length: 43, nullable: true })
  readonly server!: string | null;

  @Column({ type: 'varchar', length: 32 })
  readonly kind!: ProviderObjectKind;

  @Column({ name: 'upstream_id', type: 'varchar', length: 1024 })
  readonly upstreamId!: string;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
