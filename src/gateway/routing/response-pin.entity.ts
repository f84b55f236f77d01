import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The virtual key whose account keeps a response: only there can a later call continue it. */
@Entity('response_pins')
@Index('ix_response_pins_created_at', ['createdAt'])
export class ResponsePin {
  @PrimaryColumn({ name: 'organisation_id', type: 'uuid', primaryKeyConstraintName: 'pk_response_pins' })
  readonly organisationId!: string;

  /** Of the provider. */
  @PrimaryColumn({ name: 'response_id', type: 'varchar', length: 255, primaryKeyConstraintName: 'pk_response_pins' })
  readonly responseId!: string;

  @Column({ name: 'virtual_key_id', type: 'uuid' })
  readonly virtualKeyId!: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
