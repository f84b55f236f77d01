import { ApiProperty } from '@nestjs/swagger';

export class ToolCallFunctionResponse {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export class ToolCallResponse {
  readonly id: string;
  readonly type: 'function';
  readonly function: ToolCallFunctionResponse;
}

export class SubmitToolOutputsResponse {
  readonly tool_calls: ToolCallResponse[];
}

export class RequiredActionResponse {
  readonly type: 'submit_tool_outputs';
  readonly submit_tool_outputs: SubmitToolOutputsResponse;
}

export class RunErrorResponse {
  /** For example `server_error`. */
  readonly code: string;
  readonly message: string;
}

export class IncompleteDetailsResponse {
  /** For example `max_completion_tokens`. */
  readonly reason?: string;
}

export class RunUsageResponse {
  readonly completion_tokens: number;
  readonly prompt_tokens: number;
  readonly total_tokens: number;
}

export class TruncationStrategyResponse {
  /** For example `auto`. */
  readonly type: string;
  readonly last_messages?: number | null;
}

const STRING_OR_OBJECT = {
  oneOf: [{ type: 'string' }, { type: 'object', additionalProperties: true }],
  nullable: true,
};

/** A run of a thread; every timestamp in Unix seconds. */
export class ThreadRunResponse {
  readonly id: string;
  readonly object: 'thread.run';
  readonly created_at: number;
  readonly thread_id: string;
  readonly assistant_id: string;
  /** `queued`, `in_progress`, `requires_action`, `cancelling`, `cancelled`, `failed`, `completed`, `incomplete` or `expired`. */
  readonly status: string;
  readonly required_action: RequiredActionResponse | null;
  readonly last_error: RunErrorResponse | null;
  readonly expires_at: number | null;
  readonly started_at: number | null;
  readonly cancelled_at: number | null;
  readonly failed_at: number | null;
  readonly completed_at: number | null;
  readonly incomplete_details: IncompleteDetailsResponse | null;
  readonly model: string;
  readonly instructions: string | null;
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } })
  readonly tools: Record<string, unknown>[];
  readonly metadata: Record<string, string> | null;
  readonly usage: RunUsageResponse | null;
  readonly max_prompt_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly truncation_strategy?: TruncationStrategyResponse | null;
  @ApiProperty(STRING_OR_OBJECT)
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean;
  @ApiProperty(STRING_OR_OBJECT)
  readonly response_format?: unknown;
  @ApiProperty({ format: 'double' })
  readonly temperature?: number | null;
  @ApiProperty({ format: 'double' })
  readonly top_p?: number | null;
}

export class ThreadRunListResponse {
  readonly object: 'list';
  readonly data: ThreadRunResponse[];
  /** null on an empty page. */
  readonly first_id: string | null;
  /** null on an empty page. */
  readonly last_id: string | null;
  /** Whether there are more items. */
  readonly has_more: boolean;
}
