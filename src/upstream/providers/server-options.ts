import { applyDecorators } from '@nestjs/common';
import { IsIn } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

/** In what servers of OpenAI's API differ. A virtual key says it for its server; absent: the first of each list. */
export const STREAM_USAGE = ['ask', 'never'] as const;
export const CAP_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;
export const API_SUPPORT = ['native', 'translate'] as const;
/** Of a message of the assistant, where a server takes back what its model thought; absent: nowhere. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const;
/** Where an answer says what it cost, in US dollars; absent: nowhere. */
export const COST_FIELDS = ['usage.cost'] as const;

export interface ServerOptions {
  readonly stream_usage?: (typeof STREAM_USAGE)[number];
  readonly cap_field?: (typeof CAP_FIELDS)[number];
  readonly cost_field?: (typeof COST_FIELDS)[number];
  /** Chats: `translate`, where the provider has an API of its own that has more than its API for chats. */
  readonly chats?: (typeof API_SUPPORT)[number];
  readonly reasoning_field?: (typeof REASONING_FIELDS)[number];
}

export const OneOf = (values: readonly string[]): PropertyDecorator => applyDecorators(Optional(), IsIn(values));
