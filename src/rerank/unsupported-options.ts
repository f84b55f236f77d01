import { GatewayError } from '../common/errors/gateway.error.js';
import {
  FOREIGN_OPTIONS,
  RERANK_OPTIONS,
  type RerankOption,
  type RerankProvider,
  type RerankRequest,
} from './rerank.types.js';

const FIELDS = {
  max_tokens_per_doc: 'maxTokensPerDoc',
  priority: 'priority',
  rank_fields: 'rankFields',
  truncation: 'truncation',
  parameters: 'parameters',
} as const satisfies Record<(typeof RERANK_OPTIONS)[number], keyof RerankRequest>;

/** Options of the request that the provider does not have. */
export function unsupportedOptions(request: RerankRequest, provider: RerankProvider): readonly RerankOption[] {
  const unsupported: RerankOption[] = [];
  for (const option of RERANK_OPTIONS) {
    if (request[FIELDS[option]] !== undefined && !provider.options.has(option)) unsupported.push(option);
  }
  if (request.foreign === undefined) return unsupported;
  const { values } = request.foreign;
  return unsupported.concat(FOREIGN_OPTIONS.filter((option) => option in values && !provider.options.has(option)));
}

/** The request without its own options that the provider does not have. Providers pick foreign ones themselves. */
export function withoutOptions(request: RerankRequest, options: readonly RerankOption[]): RerankRequest {
  const own = RERANK_OPTIONS.filter((option) => options.includes(option));
  return own.reduce((rest, option) => ({ ...rest, [FIELDS[option]]: undefined }), request);
}

/**
 * With `x-gateway-strict`. Refuses other names of options too: a strict caller wants to know what it sends.
 * @throws GatewayError `unsupported_parameter` that names every one of them
 */
export function assertStrict(
  { foreign }: RerankRequest,
  unsupported: readonly RerankOption[],
  provider: RerankProvider,
): void {
  const renamed = foreign?.understood.filter((option) => !provider.options.has(option)) ?? [];
  const details = [...unsupported, ...renamed].map((param) => ({
    param,
    message: `${param} is not supported by ${provider.slug}`,
  }));
  if (details.length === 0) return;
  const message = details.map((detail) => detail.message).join('; ');
  throw new GatewayError('unsupported_parameter', { message, details });
}

/** One element of the `x-gateway-warnings` header. */
export function toWarning(option: RerankOption, provider: RerankProvider): string {
  return `unsupported_parameter; param=${option}; provider=${provider.slug}`;
}
