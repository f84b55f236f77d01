import { GatewayError } from '../common/errors/gateway.error.js';
import { RERANK_OPTIONS, type RerankOption, type RerankProvider, type RerankRequest } from './rerank.types.js';

const FIELDS = {
  max_tokens_per_doc: 'maxTokensPerDoc',
  priority: 'priority',
  rank_fields: 'rankFields',
  truncation: 'truncation',
  parameters: 'parameters',
} as const satisfies Record<RerankOption, keyof RerankRequest>;

/** Options of the request that the provider does not have. */
export function unsupportedOptions(request: RerankRequest, provider: RerankProvider): readonly RerankOption[] {
  const unsupported: RerankOption[] = [];
  for (const option of RERANK_OPTIONS) {
    if (request[FIELDS[option]] !== undefined && !provider.options.has(option)) unsupported.push(option);
  }
  return unsupported;
}

export function withoutOptions(request: RerankRequest, options: readonly RerankOption[]): RerankRequest {
  return options.reduce((rest, option) => ({ ...rest, [FIELDS[option]]: undefined }), request);
}

/** With `x-gateway-strict`: a 400 that names every one of them. */
export function refuseOptions(options: readonly RerankOption[], provider: RerankProvider): GatewayError {
  const details = options.map((param) => ({ param, message: `${param} is not supported by ${provider.slug}` }));
  return new GatewayError('unsupported_parameter', {
    message: details.map((detail) => detail.message).join('; '),
    details,
  });
}

/** One element of the `x-gateway-warnings` header. */
export function toWarning(option: RerankOption, provider: RerankProvider): string {
  return `unsupported_parameter; param=${option}; provider=${provider.slug}`;
}
