import { Column, CreateDateColumn, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** A tool of a server as it was last seen, or as it was configured before its first listing. */
@Entity('mcp_server_tools')
export class McpServerTool {
  @ForeignKey('McpServer', { name: 'fk_mcp_server_tools_server', onDelete: 'CASCADE' })
  @PrimaryColumn({ name: 'server_id', type: 'uuid', primaryKeyConstraintName: 'pk_mcp_server_tools' })
  readonly serverId!: string;

  @PrimaryColumn({ type: 'varchar', length: 255, primaryKeyConstraintName: 'pk_mcp_server_tools' })
  readonly name!: string;

  /** A disabled tool is left out of lists and its calls are refused. */
  @Column({ type: 'boolean', default: true })
  enabled!: boolean;

  @Column({ type: 'text', nullable: true })
  description!: string | null;

  /** The hash of the definition that was last seen: see `toolHash`. null when it was never seen. */
  @Column({ type: 'varchar', length: 43, nullable: true })
  hash!: string | null;

  /** The hash of the definition that may be used when the server is pinned. */
  @Column({ name: 'accepted_hash', type: 'varchar', length: 43, nullable: true })
  acceptedHash!: string | null;

  /** The JSON schema of the tool's input; null when unknown or too long. Selected only for lists. */
  @Column({ name: 'input_schema', type: 'json', nullable: true, select: false })
  inputSchema!: object | null;

  /** When the definition was first seen to differ from an earlier one; null for never. */
  @Column({ name: 'changed_at', type: 'timestamptz', nullable: true })
  changedAt!: Date | null;

  /** When the tool was last seen; null for never. */
  @Column({ name: 'seen_at', type: 'timestamptz', nullable: true })
  seenAt!: Date | null;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  readonly createdAt!: Date;
}
