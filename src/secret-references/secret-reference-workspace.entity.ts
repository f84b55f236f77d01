import { Entity, ForeignKey, Index, JoinColumn, ManyToOne, PrimaryColumn, type Relation } from 'typeorm';
import { SecretReference } from './secret-reference.entity.js';

/** A workspace that may use a secret reference which is not for all of them. */
@Entity('secret_reference_workspaces')
@Index('ix_secret_reference_workspaces_workspace', ['workspaceId'])
export class SecretReferenceWorkspace {
  @PrimaryColumn({
    name: 'secret_reference_id',
    type: 'uuid',
    primaryKeyConstraintName: 'pk_secret_reference_workspaces',
  })
  readonly secretReferenceId!: string;

  @ManyToOne(() => SecretReference, (reference) => reference.allowedWorkspaces, { onDelete: 'CASCADE' })
  @JoinColumn({
    name: 'secret_reference_id',
    foreignKeyConstraintName: 'fk_secret_reference_workspaces_reference',
  })
  readonly reference?: Relation<SecretReference>;

  @ForeignKey('Workspace', { name: 'fk_secret_reference_workspaces_workspace', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'workspace_id', type: 'uuid', primaryKeyConstraintName: 'pk_secret_reference_workspaces' })
  readonly workspaceId!: string;
}
