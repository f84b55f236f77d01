import { applyDecorators } from '@nestjs/common';
import { IsIn } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

/**
 * The differences between servers of OpenAI's API. A virtual key sets them; when absent, the first of a list applies.
 */
export const STREAM_USAGE = ['ask', 'never'] as const;
export const CAP_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;
export const API_SUPPORT = ['native', 'translate'] as const;
/** The field of an assistant's message in which a server accepts earlier reasoning; absent when it accepts none. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const;
/** The field in which an answer reports its cost in US dollars; absent when it reports none. */
export const COST_FIELDS = ['usage.cost'] as const;

export interface ServerOptions {
  readonly stream_usage?: (typeof STREAM_USAGE)[number];
  readonly cap_field?: (typeof CAP_FIELDS)[number];
  readonly cost_field?: (typeof COST_FIELDS)[number];
  /** `translate` sends chats to the provider's own API, which offers more than its API for chats. */
  readonly chats?: (typeof API_SUPPORT)[number];
  readonly reasoning_field?: (typeof REASONING_FIELDS)[number];
}

export const OneOf = (values: readonly string[]): PropertyDecorator => applyDecorators(Optional(), IsIn(values));
