import { IsIn } from 'class-validator';
import { IsSort, IsTextFilter, ListQuery } from '../../../common/pagination/list.query.js';
import { Optional } from '../../../common/validation/optional.decorator.js';
import { MCP_TRANSPORTS, type McpTransport } from '../mcp-server.types.js';

export class McpServerListQuery extends ListQuery {
  /** Only servers that clients can call, or only those that they cannot. */
  @Optional()
  @IsIn(['enabled', 'disabled'])
  readonly status?: 'enabled' | 'disabled';

  /** Only servers with this transport. */
  @Optional()
  @IsIn(MCP_TRANSPORTS)
  readonly transport?: McpTransport;

  /** Only servers of this workspace, by id or slug. */
  @IsTextFilter()
  readonly workspace_id?: string;

  @IsSort('name', 'slug')
  override readonly sort: string = '-created_at';
}
