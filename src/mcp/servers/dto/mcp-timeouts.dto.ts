import { IsInt, Max, Min } from 'class-validator';
import { Optional } from '../../../common/validation/optional.decorator.js';
import type { McpTimeouts } from '../mcp-server.types.js';

/** Milliseconds. */
export class McpTimeoutsDto implements McpTimeouts {
  /** Until the answer to a POST or DELETE begins; open streams have no limit. Default 120000. */
  @Optional()
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly first_byte_ms?: number;
}
