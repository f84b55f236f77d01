import { throwIfInvalid, fieldError, type ErrorDetail, GatewayError } from '../../common/errors/gateway.error.js';
import { isWebOrigin } from '../../common/http/origin.js';
import { assertIdentityFields } from '../../identity/config/identity-config.checks.js';
import type { IdentityFields } from '../../identity/config/identity-config.js';
import { foldHeaderName } from '../../identity/headers/header-names.js';
import type { MappedTargets } from '../../secret-references/mapped-resource/mapped-targets.js';
import { egressProblem } from '../../upstream/egress/egress-refused.error.js';
import type { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import type { McpServer } from './mcp-server.entity.js';
import { CLIENT_SECRET, mappedHeaderNames } from './mcp-server.fields.js';

const MAX_HEADERS = 32;
const MAX_HEADER_CHARACTERS = 8_192;
/** Visible ASCII and inner spaces (RFC 9110, section 5.5), which all servers read alike. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** The settings of a server that have rules, with opened secrets. */
export interface McpServerSettings extends IdentityFields, Pick<McpServer, 'url' | 'authType' | 'allowedOrigins'> {
  readonly headers: Readonly<Record<string, unknown>>;
  /** Fields whose values come from secret managers. */
  readonly mapped: MappedTargets;
}

/** The gateway's own settings that limit what servers may use. */
export interface McpServerRules {
  readonly egress: Pick<EgressPolicy, 'checkUrl'>;
  /** Whether the gateway has a key to sign identities with. */
  readonly canSign: boolean;
}

/**
 * The rules for a change of a server. Its stored values were valid when they were set. If the gateway's settings have
 * changed since then, an update, such as disabling it, must still be possible. Calls check the egress policy again, and
 * fail without a signing key.
 */
export function rulesForChange({ egress, canSign }: McpServerRules, before: McpServerSettings): McpServerRules {
  const known = new Set(addressesIn(before).map((url) => url.href));
  return {
    egress: { checkUrl: (url) => (known.has(url.href) ? undefined : egress.checkUrl(url)) },
    canSign: canSign || before.user_identity_forwarding?.method === 'jwt_header',
  };
}

function addressesIn({ url, jwt_validation: validation }: McpServerSettings): readonly URL[] {
  const texts = [url, validation?.jwksUri, validation?.jwks_uri, validation?.introspection?.endpoint];
  return texts.flatMap((text) => (text !== undefined && URL.canParse(text) ? [new URL(text)] : []));
}

/**
 * Checks the rules between the fields of a server, and those that the DTO cannot check.
 * @throws GatewayError `validation_failed` that names every broken field, such as `headers.X-Api-Key`
 */
export function checkMcpServer(settings: McpServerSettings, rules: McpServerRules): void {
  throwIfInvalid([
    ...urlProblems(settings.url, rules.egress),
    ...originProblems(settings.allowedOrigins),
    ...problemsOfSecretsAndIdentity(settings, rules),
  ]);
}

/** The rules between headers, mapped secrets and the forwarding of identities. */
export function problemsOfSecretsAndIdentity(
  settings: McpServerSettings,
  rules: McpServerRules,
): readonly ErrorDetail[] {
  const problems = [
    ...headerProblems(settings),
    ...identityProblems(settings, rules),
    ...clientSecretProblems(settings),
  ];
  return problems.map((detail) => blamed(detail, settings.mapped));
}

/** The problems by the identity module's rules, so that a caller sees all problems at once. */
function identityProblems(settings: McpServerSettings, rules: McpServerRules): readonly ErrorDetail[] {
  try {
    assertIdentityFields(settings, { ...rules, staticHeaders: headerNames(settings) });
    return [];
  } catch (error) {
    if (error instanceof GatewayError && error.details !== undefined) return error.details;
    throw error;
  }
}

export function urlProblems(text: string, egress: McpServerRules['egress']): readonly ErrorDetail[] {
  if (!/^https?:\/\//i.test(text) || /\s/.test(text) || !URL.canParse(text)) {
    return [fieldError('url', 'must be an absolute https URL')];
  }
  if (text.includes('#')) return [fieldError('url', 'must not have a fragment')];
  const refusal = egressProblem(egress, text);
  return refusal === undefined ? [] : [fieldError('url', refusal)];
}

/** Reports the problem of a mapped field at its mapping in the request. */
function blamed({ param, message }: ErrorDetail, mapped: MappedTargets): ErrorDetail {
  const name = param === null ? undefined : mapped.get(param);
  if (param === null || name === undefined) return { param, message };
  return { param: name, message: message.replace(param, () => name) };
}

function headerNames({ headers, mapped }: McpServerSettings): readonly string[] {
  return [...Object.keys(headers), ...mappedHeaderNames(mapped)];
}

function clientSecretProblems({ jwt_validation: validation, mapped }: McpServerSettings): readonly ErrorDetail[] {
  const introspection = validation?.introspection;
  const isMapped = mapped.has(CLIENT_SECRET);
  if (introspection === undefined) {
    return isMapped ? [fieldError(CLIENT_SECRET, 'cannot be mapped without jwt_validation.introspection')] : [];
  }
  const isMissing = introspection.client_secret === undefined && !isMapped;
  return isMissing ? [fieldError(CLIENT_SECRET, 'must be given, or come from a secret reference')] : [];
}

/** The problems of headers. The identity module checks for forbidden names. */
function headerProblems(settings: McpServerSettings): readonly ErrorDetail[] {
  const { authType, headers } = settings;
  const names = headerNames(settings);
  if (authType === 'none') {
    return names.length === 0 ? [] : [fieldError('headers', 'are only used with auth_type headers')];
  }
  if (names.length === 0) return [fieldError('headers', 'must name at least one header for auth_type headers')];
  if (names.length > MAX_HEADERS) return [fieldError('headers', `must not be more than ${MAX_HEADERS}`)];
  return names.flatMap((name) => {
    const isTwice = names.some((other) => other !== name && foldHeaderName(other) === foldHeaderName(name));
    const problem = isTwice ? 'is named twice' : Object.hasOwn(headers, name) ? valueProblem(headers[name]) : undefined;
    return problem === undefined ? [] : [fieldError(`headers.${name}`, problem)];
  });
}

/** The problem of a header's value, which follows its name in a message; undefined for a valid value. */
export function valueProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > MAX_HEADER_CHARACTERS) return `must be at most ${MAX_HEADER_CHARACTERS} characters long`;
  return HEADER_VALUE.test(value) ? undefined : 'must be printable ASCII without spaces around it';
}

export function originProblems(origins: readonly string[]): readonly ErrorDetail[] {
  return origins.flatMap((origin, index) =>
    isWebOrigin(origin)
      ? []
      : [fieldError(`allowed_origins.${index}`, 'must be an origin, as https://app.example.com')],
  );
}
