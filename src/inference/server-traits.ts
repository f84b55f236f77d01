import type { ProviderContext } from '../gateway/provider-context.decorator.js';
import type { ServerOptions } from '../upstream/providers/server-options.js';

/** The differences between servers of the same API. */
export interface ServerTraits {
  /** Whether its models may write tokens that the answer does not show. */
  readonly hidesReasoning: boolean;
  readonly refusesMaxTokens: boolean;
  /** Whether its answers report their cost. */
  readonly reportsCost: boolean;
  /** Whether the gateway requests the usage of streams. */
  readonly isAskedForUsage: boolean;
  /** The field of a chat message in which it accepts earlier reasoning. */
  readonly reasoningField: ServerOptions['reasoning_field'];
}

/** The traits of a provider, and those that the virtual key sets for its server. */
export function serverTraits({ provider, credential: { options } }: ProviderContext['virtualKey']): ServerTraits {
  return {
    hidesReasoning: provider.hidesReasoning === true,
    refusesMaxTokens: provider.refusesMaxTokens === true || options.cap_field === 'max_completion_tokens',
    reportsCost: (provider.costField ?? options.cost_field) !== undefined,
    isAskedForUsage: provider.reportsStreamUsage !== true && options.stream_usage !== 'never',
    reasoningField: provider.reasoningField ?? options.reasoning_field,
  };
}
