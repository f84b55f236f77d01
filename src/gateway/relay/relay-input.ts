import { GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { ProviderRequest } from '../../upstream/providers/provider.types.js';
import type { OperationInput } from './operation.types.js';
import { hasJsonBody, methodOf, type RelayRoute } from './relay-route.js';

/** The format of provider ids. Anything else is refused, so that no id can be read as part of a path. */
const ID = /^(?!\.{1,2}$)[\w.:=~@+-]{1,512}$/;

export interface RelayRequestParts {
  readonly params: Readonly<Record<string, string>>;
  /** Checked by the rules of the route. */
  readonly query: object;
  readonly body: unknown;
}

/**
 * Reads and validates the input of an operation.
 * @throws GatewayError `validation_failed` for a malformed id, or a body that is not a JSON object
 */
export function toOperationInput(route: RelayRoute, { params, query, body }: RelayRequestParts): OperationInput {
  for (const [name, value] of Object.entries(params)) {
    if (!ID.test(value)) throw invalidField(name, 'must be an id: letters, digits and . _ : = ~ @ + -');
  }
  const [unknown] = route.query === undefined ? Object.keys(query) : [];
  if (unknown !== undefined) throw invalidField(unknown, 'is not a known parameter');
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return {
    params,
    query: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    body: hasJsonBody(route) ? readBody(body) : undefined,
  };
}

/** The request to a provider of OpenAI's API: same path, same query, same bytes. */
export function toProviderRequest(
  route: RelayRoute,
  input: OperationInput,
  bytes: Buffer | undefined,
): ProviderRequest {
  return {
    method: methodOf(route),
    path: route.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(input.params[name] ?? '')),
    query: input.query,
    bytes,
  };
}

function readBody(body: unknown): JsonObject {
  // Clients send no body to operations without fields.
  if (body === undefined) return {};
  if (!isObject(body))
    throw new GatewayError('validation_failed', { message: 'The request body must be a JSON object.' });
  return body;
}
