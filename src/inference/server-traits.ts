import type { ProviderContext } from '../gateway/provider-context.decorator.js';
import type { ServerOptions } from '../upstream/providers/server-options.js';

/** In what servers of the same API differ. */
export interface ServerTraits {
  /** Whether its models may write tokens that the answer does not show. */
  readonly hidesReasoning: boolean;
  readonly refusesMaxTokens: boolean;
  /** Whether its answers say what they cost. */
  readonly reportsCost: boolean;
  /** Whether a stream is asked for its usage. */
  readonly isAskedForUsage: boolean;
  /** Where messages of a chat take back what its models thought. */
  readonly reasoningField: ServerOptions['reasoning_field'];
}

/** Those of a provider, and of one server as its virtual key describes it. */
export function serverTraits({ provider, credential: { options } }: ProviderContext['virtualKey']): ServerTraits {
  return {
    hidesReasoning: provider.hidesReasoning === true,
    refusesMaxTokens: provider.refusesMaxTokens === true || options.cap_field === 'max_completion_tokens',
    reportsCost: (provider.costField ?? options.cost_field) !== undefined,
    isAskedForUsage: provider.reportsStreamUsage !== true && options.stream_usage !== 'never',
    reasoningField: provider.reasoningField ?? options.reasoning_field,
  };
}
