import { type GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import { isMaskOf, isStaleMask, staleMask } from '../../common/mask.js';
import { isSameValue } from '../../common/same-value.js';
import { isOtherHost, mustResend } from '../../common/secret-destination.js';
import { foldHeaderName } from '../../identity/headers/header-names.js';
import type { JwtValidationFields } from '../../identity/config/identity-config.js';
import { incompleteUpdate } from '../../sealing/decrypted.js';
import type { McpServerSettings } from './check-mcp-server.js';
import type { UpdateMcpServerDto } from './dto/mcp-server.dto.js';
import { withSecret } from './jwt-validation.secret.js';
import { CLIENT_SECRET, mappedHeaderNames, type MappedTargets, NO_TARGETS, targetsOf } from './mapped-targets.js';
import type { McpServer } from './mcp-server.entity.js';
import type { McpServerSecrets } from './mcp-server.encryption.js';

/** How a server is reached and who may be told what: all that is not its name. Secrets are open in here. */
export interface OpenSettings extends McpServerSettings, Pick<McpServer, 'transport' | 'timeouts' | 'enabled'> {}

type Changes = Omit<UpdateMcpServerDto, 'name' | 'description' | 'organisation_id' | 'secret_mappings'>;

const DEFAULTS: OpenSettings = {
  url: '',
  transport: 'streamable_http',
  authType: 'none',
  headers: {},
  mapped: NO_TARGETS,
  user_identity_forwarding: null,
  jwt_validation: null,
  forward_headers: null,
  allowedOrigins: [],
  timeouts: {},
  enabled: true,
};

export function newSettings(dto: Changes, mapped: MappedTargets): OpenSettings {
  return changedSettings(DEFAULTS, dto, mapped);
}

export function openSettings(row: McpServer, secrets: McpServerSecrets): OpenSettings {
  return {
    url: row.url,
    transport: row.transport,
    authType: row.authType,
    headers: secrets.headers,
    mapped: targetsOf(row.secretMappings),
    user_identity_forwarding: row.userIdentityForwarding,
    jwt_validation: row.jwtValidation && withSecret(row.jwtValidation, secrets.introspectionClientSecret),
    forward_headers: row.forwardHeaders,
    allowedOrigins: row.allowedOrigins,
    timeouts: row.timeouts,
    enabled: row.enabled,
  };
}

/**
 * Lays an update over what is stored. `headers` are merged, everything else is replaced. Masked secrets that come back
 * count as unchanged, and what is stored for a mapped field goes.
 * @throws GatewayError `validation_failed` for masks of what is not stored, and when stored secrets would go to another host
 * than they were stored for
 */
export function changedSettings(before: OpenSettings, dto: Changes, mapped: MappedTargets): OpenSettings {
  const stored = withoutMapped(before, mapped);
  const url = dto.url ?? stored.url;
  const headers = changedHeaders(stored, dto, isOtherHost(stored.url, url));
  const hasHeaders = Object.keys(headers).length + mappedHeaderNames(mapped).length > 0;
  return {
    url,
    transport: dto.transport ?? stored.transport,
    authType: dto.auth_type ?? (hasHeaders ? 'headers' : 'none'),
    headers,
    mapped,
    user_identity_forwarding: changed(stored.user_identity_forwarding, dto.user_identity_forwarding),
    jwt_validation: changedValidation(stored.jwt_validation, dto.jwt_validation),
    forward_headers: changed(stored.forward_headers, dto.forward_headers),
    allowedOrigins: dto.allowed_origins ?? stored.allowedOrigins,
    timeouts: dto.timeouts ?? stored.timeouts,
    enabled: dto.enabled ?? stored.enabled,
  };
}

/** Whether an update would leave all of them as they are. */
export function isSameSettings(one: OpenSettings, other: OpenSettings): boolean {
  const fields = ({ mapped, ...others }: OpenSettings): object => ({ ...others, mapped: [...mapped.keys()].sort() });
  return isSameValue(fields(one), fields(other));
}

/**
 * For an update that says nothing of secret mappings.
 * @throws GatewayError `validation_failed` when mapped secrets would go to another host than they were mapped for
 */
export function assertMappedForHost(before: OpenSettings, after: OpenSettings): void {
  if (mappedHeaderNames(after.mapped).length > 0 && isOtherHost(before.url, after.url)) {
    throw invalidField('secret_mappings', mustResend('url'));
  }
  const [old, now] = [before, after].map((settings) => settings.jwt_validation?.introspection?.endpoint);
  if (after.mapped.has(CLIENT_SECRET) && now !== undefined && isOtherHost(old, now)) {
    throw invalidField('secret_mappings', mustResend('jwt_validation.introspection.endpoint'));
  }
}

/**
 * For an update of a server whose secrets do not open: it has to bring them all. The names of its headers are sealed too, so
 * that those in the update are taken for all.
 * @throws GatewayError `secret_unavailable`
 */
export function assertSecretsReplaced(
  failure: GatewayError,
  before: OpenSettings,
  after: OpenSettings,
  dto: Changes,
): void {
  const hasHeaders = before.authType === 'none' || dto.auth_type === 'none' || Object.keys(after.headers).length > 0;
  if (!hasHeaders) throw incompleteUpdate(failure, 'Send all headers again, or auth_type none.');
  const introspection = after.jwt_validation?.introspection;
  if (introspection !== undefined && introspection.client_secret === undefined && !after.mapped.has(CLIENT_SECRET)) {
    throw incompleteUpdate(failure, `Send again: ${CLIENT_SECRET}.`);
  }
}

function withoutMapped(settings: OpenSettings, mapped: MappedTargets): OpenSettings {
  const names = new Set(mappedHeaderNames(mapped).map(foldHeaderName));
  const headers = Object.entries(settings.headers).filter(([name]) => !names.has(foldHeaderName(name)));
  const { jwt_validation: validation } = settings;
  return {
    ...settings,
    headers: Object.fromEntries(headers),
    jwt_validation: validation && mapped.has(CLIENT_SECRET) ? withSecret(validation, undefined) : validation,
  };
}

function changed<Value>(stored: Value, update: Value | undefined): Value {
  return update === undefined ? stored : update;
}

function changedHeaders(
  { headers: stored }: OpenSettings,
  dto: Changes,
  isElsewhere: boolean,
): OpenSettings['headers'] {
  if (dto.auth_type === 'none' && dto.headers === undefined) return {};
  const given = Object.entries(dto.headers ?? {});
  const [stale] = given.find(([name, value]) => isStaleMask(value, secretOf(stored, name))) ?? [];
  if (stale !== undefined) throw invalidField(`headers.${stale}`, staleMask());
  const update = given.filter(([name, value]) => !isMaskOf(value, secretOf(stored, name)));
  const replaced = new Set(update.map(([name]) => foldHeaderName(name)));
  const kept = Object.entries(stored).filter(([name]) => !replaced.has(foldHeaderName(name)));
  const [first] = kept;
  if (isElsewhere && first !== undefined) throw invalidField(`headers.${first[0]}`, mustResend('url'));
  return Object.fromEntries([...kept, ...update.filter(([, value]) => value !== null)]);
}

/** By every spelling that a server takes for the same header: clients write names in a case of their own. */
function secretOf(headers: OpenSettings['headers'], name: string): string | undefined {
  const stored = Object.keys(headers).find((other) => foldHeaderName(other) === foldHeaderName(name));
  const value = stored === undefined ? undefined : headers[stored];
  return typeof value === 'string' ? value : undefined;
}

function changedValidation(
  stored: JwtValidationFields | null | undefined,
  update: JwtValidationFields | null | undefined,
): JwtValidationFields | null {
  if (update === undefined) return stored ?? null;
  const old = stored?.introspection;
  const secret = update?.introspection?.client_secret;
  if (isStaleMask(secret, old?.client_secret)) throw invalidField(CLIENT_SECRET, staleMask());
  if (update?.introspection === undefined || old === undefined || !isMaskOf(secret, old.client_secret)) return update;
  if (isOtherHost(old.endpoint, update.introspection.endpoint)) {
    throw invalidField(CLIENT_SECRET, mustResend('jwt_validation.introspection.endpoint'));
  }
  return { ...update, introspection: { ...update.introspection, client_secret: old.client_secret } };
}
