import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** A secret that the gateways of one database share, sealed by the master key. */
@Entity('server_secrets')
export class ServerSecret {
  @PrimaryColumn({ type: 'varchar', length: 64, primaryKeyConstraintName: 'pk_server_secrets' })
  readonly name!: string;

  @Column({ name: 'sealed_value', type: 'text' })
  readonly sealedValue!: string;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
