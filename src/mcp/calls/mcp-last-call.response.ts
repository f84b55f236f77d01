import { ApiProperty } from '@nestjs/swagger';
import { toUnixSeconds } from '../../common/time/unix-time.js';
import { CALL_OUTCOMES, type CallOutcome } from './call-outcome.types.js';
import type { McpCall } from './mcp-call.entity.js';

export class McpLastCallResponse {
  /** When it was over, in Unix seconds. */
  readonly at: number;
  /** Status that the client received; 499 when it disconnected first. */
  readonly status: number;
  /** How it ended, as in the log of calls. */
  @ApiProperty({ enum: CALL_OUTCOMES })
  readonly outcome: CallOutcome;
  /** Code of the gateway's own error. */
  readonly error_code: string | null;
}

export type LastCall = Pick<McpCall, 'createdAt' | 'status' | 'outcome' | 'errorCode'>;

export function toLastCallResponse({ createdAt, status, outcome, errorCode }: LastCall): McpLastCallResponse {
  return { at: toUnixSeconds(createdAt), status, outcome, error_code: errorCode };
}
