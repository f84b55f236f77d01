import { GatewayError } from '../../common/errors/gateway.error.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import type { OperationInput } from './operation.types.js';

/**
 * The input without options that the provider does not have. They are named in the header `x-gateway-warnings`.
 * @param options names in the query or in the body
 * @throws GatewayError `unsupported_parameter` with `x-gateway-strict: true`
 */
export function withoutOptions(
  { strict, answer, virtualKey }: Pick<ProviderContext, 'strict' | 'answer' | 'virtualKey'>,
  input: OperationInput,
  options: readonly string[],
): OperationInput {
  const provider = virtualKey.provider.slug;
  const inQuery = Object.keys(input.query).filter((name) => options.includes(nameOf(name)));
  const inBody = options.filter((name) => (input.body?.[name] ?? null) !== null);
  const found = [...new Set([...inQuery.map(nameOf), ...inBody])];
  if (found.length === 0) return input;
  if (strict) {
    const details = found.map((param) => ({ param, message: `${param} is not supported by ${provider}` }));
    const message = details.map((detail) => detail.message).join('; ');
    throw new GatewayError('unsupported_parameter', { message, details });
  }
  const warnings = found.map((param) => `unsupported_parameter; param=${param}; provider=${provider}`);
  answer.setHeader('x-gateway-warnings', warnings.join(', '));
  const without = <Fields extends object>(fields: Fields): object =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !found.includes(nameOf(name))));
  return {
    ...input,
    query: Object.fromEntries(Object.entries(input.query).filter(([name]) => !inQuery.includes(name))),
    body: input.body === undefined ? undefined : { ...without(input.body) },
  };
}

/** `metadata[team]` → `metadata` */
function nameOf(parameter: string): string {
  return parameter.split('[', 1)[0] ?? parameter;
}
