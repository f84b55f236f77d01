import { GatewayError } from '../../common/errors/gateway.error.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import type { OperationInput } from './operation.types.js';

/** Names of what a provider does not have. */
export interface UnsupportedOptions {
  /** Parameters of the query. */
  readonly query: readonly string[];
  /** Fields of the body. */
  readonly fields: readonly string[];
}

/**
 * The input without options that the provider does not have. They are named in the header `x-gateway-warnings`.
 * @throws GatewayError `unsupported_parameter` with `x-gateway-strict: true`
 */
export function withoutOptions(
  { strict, answer, virtualKey }: Pick<ProviderContext, 'strict' | 'answer' | 'virtualKey'>,
  input: OperationInput,
  { query, fields }: UnsupportedOptions,
): OperationInput {
  const provider = virtualKey.provider.slug;
  const inQuery = Object.keys(input.query).filter((name) => query.includes(nameOf(name)));
  const inBody = fields.filter((name) => (input.body?.[name] ?? null) !== null);
  const found = [...new Set([...inQuery.map(nameOf), ...inBody])];
  if (found.length === 0) return input;
  if (strict) {
    const details = found.map((param) => ({ param, message: `${param} is not supported by ${provider}` }));
    const message = details.map((detail) => detail.message).join('; ');
    throw new GatewayError('unsupported_parameter', { message, details });
  }
  const warnings = found.map((param) => `unsupported_parameter; param=${param}; provider=${provider}`);
  answer.setHeader('x-gateway-warnings', warnings.join(', '));
  return {
    ...input,
    query: Object.fromEntries(Object.entries(input.query).filter(([name]) => !inQuery.includes(name))),
    body:
      input.body === undefined
        ? undefined
        : Object.fromEntries(Object.entries(input.body).filter(([name]) => !inBody.includes(name))),
  };
}

/** `metadata[team]` → `metadata` */
function nameOf(parameter: string): string {
  return parameter.split('[', 1)[0] ?? parameter;
}
