import { Column, CreateDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

@Entity('organisations')
@Index('uq_organisations_slug', ['slug'], { unique: true })
export class Organisation {
  @PrimaryGeneratedColumn('uuid', { primaryKeyConstraintName: 'pk_organisations' })
  readonly id!: string;

  @Column({ type: 'varchar', length: 255 })
  readonly slug!: string;

  @Column({ type: 'varchar', length: 255 })
  readonly name!: string;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
