import { IDENTITY_HEADERS } from '../../common/constants.js';
import { throwIfInvalid, fieldError, type ErrorDetail } from '../../common/errors/gateway.error.js';
import type { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { egressProblem } from '../../upstream/egress/egress-refused.error.js';
import {
  foldHeaderName,
  isGatewayHeader,
  isHeaderName,
  isNeverForwarded,
  whyNotWritable,
} from '../headers/header-names.js';
import { SIGNED_BY_GATEWAY } from '../jwt/identity-token.js';
import {
  type IdentityFields,
  identityHeaderName,
  type JwtValidationFields,
  type UserIdentityForwarding,
} from './identity-config.js';

const OWN_HEADER = "must not be one of the gateway's own headers";

/** Facts outside the fields that the rules need. */
export interface CheckContext {
  readonly egress: Pick<EgressPolicy, 'checkUrl'>;
  /** Whether there is a JWT_PRIVATE_KEY. */
  readonly canSign: boolean;
  /** Names of the server's configured headers. */
  readonly staticHeaders?: readonly string[];
}

/**
 * Checks the rules between the identity fields of an MCP server. Rules of single fields are on the DTOs.
 * @throws GatewayError `validation_failed` that names every invalid field
 */
export function assertIdentityFields(fields: IdentityFields, context: CheckContext): void {
  throwIfInvalid([
    ...forwardingProblems(fields, context),
    ...validationProblems(fields.jwt_validation ?? undefined, context.egress),
    ...forwardHeadersProblems(fields),
    ...staticHeaderProblems(fields, context.staticHeaders ?? []),
  ]);
}

function forwardingProblems(fields: IdentityFields, { canSign }: CheckContext): readonly ErrorDetail[] {
  const forwarding = fields.user_identity_forwarding ?? undefined;
  if (forwarding === undefined) return [];
  const { method } = forwarding;
  const problems: ErrorDetail[] = [];
  const complain = (field: string, expected: string): void => {
    problems.push(fieldError(`user_identity_forwarding.${field}`, expected));
  };
  const refusal = whyNotIdentityHeader(forwarding);
  if (refusal !== undefined) complain('header_name', refusal);
  if (method !== 'jwt_header') {
    if (forwarding.jwt_expiry_seconds !== undefined) complain('jwt_expiry_seconds', 'is only for method jwt_header');
    if (forwarding.audience !== undefined) complain('audience', 'is only for method jwt_header');
    if (forwarding.jwt_audience !== undefined) complain('jwt_audience', 'is only for method jwt_header');
  }
  if (method !== 'bearer' && forwarding.allow_anonymous !== undefined) {
    complain('allow_anonymous', 'is only for method bearer');
  }
  if (method === 'bearer') {
    if (forwarding.include_claims !== undefined) complain('include_claims', 'is not for method bearer');
    if (!fields.jwt_validation)
      complain('method', 'bearer needs jwt_validation: only tokens that were validated are passed on');
  }
  if (method === 'jwt_header' && forwarding.include_claims?.some((claim) => SIGNED_BY_GATEWAY.has(claim)))
    complain('include_claims', 'must not have aud, org or auth_method, which only jwt_audience and audience set');
  if (method === 'jwt_header' && !canSign)
    complain('method', 'jwt_header needs JWT_PRIVATE_KEY, which this gateway does not have');
  return problems;
}

function whyNotIdentityHeader({ method, header_name: name }: UserIdentityForwarding): string | undefined {
  if (name === undefined) return undefined;
  const refusal = whyNotWritable(name);
  if (refusal !== undefined) return refusal;
  const folded = foldHeaderName(name);
  if (isGatewayHeader(folded)) return OWN_HEADER;
  if (folded === 'authorization') return method === 'bearer' ? undefined : 'may be Authorization only with bearer';
  // A server that confuses the two would trust unsigned claims as a signed token.
  const standard = foldHeaderName(identityHeaderName({ method }));
  return IDENTITY_HEADERS.has(folded) && folded !== standard ? 'must not be the header of another method' : undefined;
}

function validationProblems(
  fields: JwtValidationFields | undefined,
  egress: CheckContext['egress'],
): readonly ErrorDetail[] {
  if (fields === undefined) return [];
  const problems: ErrorDetail[] = [];
  for (const [one, other] of [
    ['jwksUri', 'jwks_uri'],
    ['requiredClaims', 'required_claims'],
  ] as const) {
    if (fields[one] !== undefined && fields[other] !== undefined) {
      problems.push(fieldError(`jwt_validation.${other}`, `is the same as ${one}: send one of them`));
    }
  }
  const jwksField = fields.jwks_uri === undefined ? 'jwksUri' : 'jwks_uri';
  const jwksUri = fields[jwksField];
  if (jwksUri === undefined && fields.introspection === undefined) {
    problems.push(fieldError('jwt_validation.jwksUri', 'is required without introspection'));
  }
  const addresses = [
    [`jwt_validation.${jwksField}`, jwksUri],
    ['jwt_validation.introspection.endpoint', fields.introspection?.endpoint],
  ] as const;
  problems.push(...addresses.flatMap(([param, url]) => (url === undefined ? [] : egressProblems(param, url, egress))));
  if (fields.advertise_issuer === true && !isWebAddress(fields.issuer)) {
    problems.push(fieldError('jwt_validation.advertise_issuer', 'needs an issuer that is an http or https URL'));
  }
  const headerProblem = fields.header_key === undefined ? undefined : whyNotTokenHeader(fields.header_key);
  if (headerProblem !== undefined) problems.push(fieldError('jwt_validation.header_key', headerProblem));
  return problems;
}

function isWebAddress(text: string | undefined): boolean {
  return text !== undefined && /^https?:/i.test(text) && URL.canParse(text);
}

function whyNotTokenHeader(name: string): string | undefined {
  if (isGatewayHeader(foldHeaderName(name))) return OWN_HEADER;
  if (IDENTITY_HEADERS.has(foldHeaderName(name)))
    return 'must not be an identity header: those are deleted when they come in';
  return whyNotWritable(name);
}

function forwardHeadersProblems(fields: IdentityFields): readonly ErrorDetail[] {
  const { mode, headers = [] } = fields.forward_headers ?? {};
  const own = ownIdentityHeader(fields);
  return headers.flatMap((name, index) => {
    const param = `forward_headers.headers.${index}`;
    if (!isHeaderName(name)) return [fieldError(param, 'must be a header name (RFC 9110, section 5.6.2)')];
    const folded = foldHeaderName(name);
    // A protected header as an exception changes nothing.
    const refused = mode === 'allowlist' && (folded === own || isNeverForwarded(folded));
    return refused ? [fieldError(param, 'names a header that is never forwarded')] : [];
  });
}

/** Folded name of the identity header, if one is configured. */
function ownIdentityHeader({ user_identity_forwarding: forwarding }: IdentityFields): string | undefined {
  return forwarding ? foldHeaderName(identityHeaderName(forwarding)) : undefined;
}

function staticHeaderProblems(fields: IdentityFields, names: readonly string[]): readonly ErrorDetail[] {
  const own = ownIdentityHeader(fields);
  return names.flatMap((name) => {
    const folded = foldHeaderName(name);
    const isIdentity = IDENTITY_HEADERS.has(folded) || folded === own;
    const refusal = isIdentity ? 'is the name of an identity header' : whyNotWritable(name);
    return refusal === undefined ? [] : [fieldError(`headers.${name}`, refusal)];
  });
}

function egressProblems(param: string, url: string, egress: CheckContext['egress']): readonly ErrorDetail[] {
  const refusal = egressProblem(egress, url);
  return refusal === undefined ? [] : [fieldError(param, refusal)];
}
