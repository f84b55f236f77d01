import { ApiProperty } from '@nestjs/swagger';

export class ToolCallFunctionResponse {
  /** The name of the function. */
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export class ToolCallResponse {
  readonly id: string;
  /** The kind of tool. */
  readonly type: 'function';
  readonly function: ToolCallFunctionResponse;
}

export class SubmitToolOutputsResponse {
  /** The tool calls that need outputs. */
  readonly tool_calls: ToolCallResponse[];
}

export class RequiredActionResponse {
  /** What the run waits for. */
  readonly type: 'submit_tool_outputs';
  readonly submit_tool_outputs: SubmitToolOutputsResponse;
}

export class RunErrorResponse {
  /** For example `server_error`. */
  readonly code: string;
  /** What went wrong. */
  readonly message: string;
}

export class IncompleteDetailsResponse {
  /** For example `max_completion_tokens`. */
  readonly reason?: string;
}

export class RunUsageResponse {
  /** Tokens of the output. */
  readonly completion_tokens: number;
  /** Tokens of the input. */
  readonly prompt_tokens: number;
  /** Input and output tokens together. */
  readonly total_tokens: number;
}

export class TruncationStrategyResponse {
  /** For example `auto`. */
  readonly type: string;
  /** How many of the last messages are kept. */
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
  /** Unix seconds. */
  readonly created_at: number;
  /** The thread that is run. */
  readonly thread_id: string;
  /** The assistant that runs the thread. */
  readonly assistant_id: string;
  /** `queued`, `in_progress`, `requires_action`, `cancelling`, `cancelled`, `failed`, `completed`, `incomplete` or `expired`. */
  readonly status: string;
  /** What the run waits for; null: nothing. */
  readonly required_action: RequiredActionResponse | null;
  /** The error that ended the run. */
  readonly last_error: RunErrorResponse | null;
  /** Unix seconds. */
  readonly expires_at: number | null;
  /** Unix seconds. */
  readonly started_at: number | null;
  /** Unix seconds. */
  readonly cancelled_at: number | null;
  /** Unix seconds. */
  readonly failed_at: number | null;
  /** Unix seconds. */
  readonly completed_at: number | null;
  /** Why the run is incomplete. */
  readonly incomplete_details: IncompleteDetailsResponse | null;
  /** The model of the run. */
  readonly model: string;
  /** The instructions of the run. */
  readonly instructions: string | null;
  /** The tools that the run may use. */
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } })
  readonly tools: Record<string, unknown>[];
  /** Your own labels. */
  readonly metadata: Record<string, string> | null;
  /** Tokens that the run used; null until it has ended. */
  readonly usage: RunUsageResponse | null;
  /** The most input tokens that the run may use. */
  readonly max_prompt_tokens?: number | null;
  /** The most output tokens that the run may use. */
  readonly max_completion_tokens?: number | null;
  /** How the thread is cut to fit the context window. */
  readonly truncation_strategy?: TruncationStrategyResponse | null;
  /** Which tool the model must use, if any. */
  @ApiProperty(STRING_OR_OBJECT)
  readonly tool_choice?: unknown;
  /** Whether tools may be called in parallel. */
  readonly parallel_tool_calls?: boolean;
  /** The format that the model must answer in. */
  @ApiProperty(STRING_OR_OBJECT)
  readonly response_format?: unknown;
  /** The sampling temperature. */
  @ApiProperty({ format: 'double' })
  readonly temperature?: number | null;
  /** The share of probability mass that is sampled from. */
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
