import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { ProviderRequest } from '../../upstream/providers/provider.types.js';
import type { OperationInput } from './operation.types.js';
import { hasJsonBody, methodOf, type RelayRoute } from './relay-route.js';

/**
 * The format of provider ids. Anything else is refused, so that no id leads to another path. A slash is part of the id, and sent as
 * `%2F`.
 */
const ID = /^(?=.{1,512}$)(?:(?!\.{1,2}(?:\/|$))[\w.:=~@+-]+(?:\/(?!$)|$))+$/;
const RANGE = /^bytes=[\d, -]{1,256}$/;
const VALIDATOR = /^[\x20-\x7e]{1,256}$/;

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
    if (!ID.test(value)) throw invalidField(name, 'must be an id: letters, digits and . _ : = ~ @ + - /');
  }
  return {
    params,
    query: Object.fromEntries(Object.entries(query).flatMap(([name, value]) => parameters(name, value))),
    lists: Object.fromEntries(Object.entries(query).flatMap(([name, value]) => lists(name, value))),
    body: hasJsonBody(route) ? readBody(body) : undefined,
  };
}

/** The request to a provider of OpenAI's API: same path, same query, same bytes. */
export function toProviderRequest(
  route: Pick<RelayRoute, 'kind' | 'path'>,
  input: OperationInput,
  bytes: Buffer | undefined,
): ProviderRequest {
  return {
    method: methodOf(route),
    path: route.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(input.params[name] ?? '')),
    query: { ...input.query, ...input.lists },
    bytes,
  };
}

/** A file whose content is the answer. */
export function fileContentRequest(fileId: string): ProviderRequest {
  return { method: 'GET', path: `/files/${encodeURIComponent(fileId)}/content`, query: {}, bytes: undefined };
}

/** A map is written as it came: `metadata[team]`. */
function parameters(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || Array.isArray(value)) return [];
  if (!isObject(value)) return [[name, textOf(value)]];
  return Object.entries(value).map(([member, text]) => [`${name}[${member}]`, textOf(text)]);
}

function lists(name: string, value: unknown): readonly (readonly [string, readonly string[]])[] {
  return Array.isArray(value) ? [[name, value.map(textOf)]] : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The part of a file that the caller asks for. A header in another form is ignored, as RFC 9110 (14.2) allows. */
export function rangeHeaders(route: RelayRoute, headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const { range, 'if-range': ifRange } = headers;
  if (route.kind !== 'download' || range === undefined || !RANGE.test(range)) return {};
  return typeof ifRange === 'string' && VALIDATOR.test(ifRange) ? { range, 'if-range': ifRange } : { range };
}

function readBody(body: unknown): JsonObject {
  // Clients send no body to operations without fields.
  if (body === undefined) return {};
  if (!isObject(body))
    throw new GatewayError('validation_failed', { message: 'The request body must be a JSON object.' });
  return body;
}
