import type { OpenAPIObject } from '@nestjs/swagger';
import { API_KEY_ONLY, OWN_AUTHENTICATION } from '../access/route-access.decorators.js';
import type { DeclaredRoute } from '../access/assert-routes-declared.js';
import { ERROR_CODES, type ErrorCode } from '../common/errors/error-codes.js';
import { declaredErrors } from '../common/errors/may-fail.decorator.js';
import { jsonBodySchemaOf, type Operation, operationEntriesOf, type Schema } from './document.js';

type Responses = Operation['responses'];
type Response = Exclude<NonNullable<Responses[string]>, { readonly $ref: string }>;

const ENVELOPE = '#/components/schemas/ErrorResponse';
const RETRY_AFTER = {
  // A provider's may be a date.
  'Retry-After': { description: 'How long to wait before the next try, in seconds.', schema: { type: 'string' } },
} as const;
const WWW_AUTHENTICATE = {
  'WWW-Authenticate': { description: 'The schemes that the operation accepts.', schema: { type: 'string' } },
} as const;
const HEADERS: Readonly<Record<string, Response['headers']>> = { '401': WWW_AUTHENTICATE, '429': RETRY_AFTER };

/**
 * Documents the errors of every operation, one response per status with the codes that it may have. They are derived from what
 * the route declares, so that a new route has them without further work.
 */
export function writeErrorResponses(document: OpenAPIObject, routes: ReadonlyMap<string, DeclaredRoute>): void {
  for (const { path, operation } of operationEntriesOf(document)) {
    const route = routes.get(operation.operationId ?? '');
    if (route === undefined) throw new Error(`no handler is called ${operation.operationId}`);
    const body = jsonBodySchemaOf(document, operation);
    addErrors(document, operation, [
      ...callerErrors(route),
      ...inputErrors(path, operation, body),
      ...workErrors(route),
    ]);
  }
}

/** Adds a response per status to the operation, in the form of its `default` response. */
export function addErrors(document: OpenAPIObject, operation: Operation, codes: readonly ErrorCode[]): void {
  const components = (document.components ??= {});
  const examples = (components.examples ??= {});
  const shared = (components.responses ??= {});
  for (const [status, some] of byStatus(new Set(codes))) {
    const response = responseOf(operation, status, some);
    // The same few responses belong to many operations.
    const name = [...formOf(response), ...some].join('.');
    shared[name] = response;
    operation.responses[status] ??= { $ref: `#/components/responses/${name}` };
    if (isEnvelope(response)) for (const code of some) examples[code] = exampleOf(code);
  }
}

/** Errors of authentication and authorization. */
function callerErrors({ handler, scope, isPublic, isForAnyCaller }: DeclaredRoute): readonly ErrorCode[] {
  if (isPublic || (scope === undefined && !isForAnyCaller)) return [];
  const isForKeysOnly = Reflect.hasMetadata(API_KEY_ONLY, handler);
  const isInTenant = !isForKeysOnly && !Reflect.hasMetadata(OWN_AUTHENTICATION, handler);
  return [
    'api_key_invalid',
    'permission_denied',
    'rate_limited',
    'store_unavailable',
    ...(isForKeysOnly ? [] : (['token_invalid', 'identity_provider_unavailable'] as const)),
    ...(isInTenant ? (['tenant_mismatch'] as const) : []),
  ];
}

/** Errors of the path, the headers and the body. Every route checks its tracing headers, so each may answer 400. */
function inputErrors(path: string, { requestBody }: Operation, body: Schema | undefined): readonly ErrorCode[] {
  const namesRowBySlug = path.includes('{ref}');
  const setsSlug = body?.properties?.['slug'] !== undefined;
  return [
    'validation_failed',
    ...(path.includes('{') ? (['not_found'] as const) : []),
    ...(namesRowBySlug || setsSlug ? (['conflict'] as const) : []),
    ...(requestBody === undefined ? [] : (['request_timeout'] as const)),
    ...(body === undefined ? [] : (['payload_too_large', 'unsupported_media_type'] as const)),
  ];
}

/** Errors of the work itself. */
function workErrors({ handler }: DeclaredRoute): readonly ErrorCode[] {
  return [...declaredErrors(handler).filter((code) => isErrorCode(code)), 'internal_error'];
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && code in ERROR_CODES;
}

/** In the order of the table, and so of the status within a family. */
function byStatus(codes: ReadonlySet<ErrorCode>): ReadonlyMap<string, readonly ErrorCode[]> {
  const found = new Map<string, ErrorCode[]>();
  for (const code of ALL_CODES.filter((one) => codes.has(one))) {
    const status = String(ERROR_CODES[code].status);
    found.set(status, [...(found.get(status) ?? []), code]);
  }
  return found;
}

const ALL_CODES = Object.keys(ERROR_CODES).filter((code) => isErrorCode(code));

function responseOf({ responses }: Operation, status: string, codes: readonly ErrorCode[]): Response {
  const fallback = responses['default'];
  if (fallback === undefined || '$ref' in fallback) throw new Error('an operation has no default response');
  const description = codes.map((code) => `- \`${code}\`: ${ERROR_CODES[code].message}`).join('\n');
  const headers = HEADERS[status];
  const schema = fallback.content?.['application/json']?.schema;
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  const content = { 'application/json': { schema, ...(isEnvelope(fallback) && { examples }) } };
  return { description, ...(headers && { headers }), content };
}

/** Addresses of other protocols have another form. */
function isEnvelope(response: Response): boolean {
  return formOf(response).length === 0;
}

/** The name of the schema; empty for the envelope. */
function formOf({ content }: Response): readonly string[] {
  const schema = content?.['application/json']?.schema;
  const reference = schema !== undefined && '$ref' in schema ? schema.$ref : '';
  return reference === ENVELOPE ? [] : [reference.slice(reference.lastIndexOf('/') + 1)];
}

function exampleOf(code: ErrorCode): NonNullable<NonNullable<OpenAPIObject['components']>['examples']>[string] {
  const { message, type, source, when } = ERROR_CODES[code];
  return { summary: code, description: when, value: { error: { message, type, code, param: null, source } } };
}
