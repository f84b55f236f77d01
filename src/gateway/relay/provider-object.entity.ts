import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { ProviderObjectKind } from './relay-route.js';

/** An object at a provider that was made through the gateway, and whose it is. */
@Entity('provider_objects')
@Index('uq_provider_objects_upstream', ['organisationId', 'provider', 'server', 'kind', 'upstreamId'], { unique: true })
export class ProviderObject {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_provider_objects' })
  readonly id!: string;

  @ForeignKey('Organisation', { name: 'fk_provider_objects_organisation' })
  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  /** null: made by a key of the whole organisation through a virtual key of the whole organisation. */
  @Column({ name: 'workspace_id', type: 'uuid', nullable: true })
  readonly workspaceId!: string | null;

  @Column({ name: 'api_key_id', type: 'uuid' })
  readonly apiKeyId!: string;

  @Column({ type: 'varchar', length: 64 })
  readonly provider!: string;

  /**
   * Which of the provider's servers gave the id: a digest of its base URL, empty for the provider's own. Rows from before this
   * was recorded have null, which stands for each of them.
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
