import type { GatewayError } from '../../common/errors/gateway.error.js';
import { isSameValue } from '../../common/same-value.js';
import { incompleteUpdate } from '../../sealing/decrypted.js';
import {
  type MappedTargets,
  NO_TARGETS,
  storedTargets,
} from '../../secret-references/mapped-resource/mapped-targets.js';
import { type Fields, mergeFields } from '../../secret-references/mapped-resource/sealed-config.js';
import type { McpServerSettings } from './check-mcp-server.js';
import type { UpdateMcpServerDto } from './dto/mcp-server.dto.js';
import type { McpServer } from './mcp-server.entity.js';
import {
  CLIENT_SECRET,
  clientSecretIn,
  headersIn,
  mappedHeaderNames,
  MCP_SERVER_CONFIG,
  toFields,
  withSecret,
} from './mcp-server.fields.js';

/** The secrets of a server that are sealed. Mapped values are never among them. */
export interface McpServerSecrets {
  /** Fixed headers by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The secret for the introspection of opaque tokens at the identity provider. */
  readonly introspectionClientSecret?: string | undefined;
}

/** The settings of a server, without its name, with opened secrets. */
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
  return changedSettings(DEFAULTS, dto, mapped).settings;
}

export function openSettings(row: McpServer, secrets: McpServerSecrets): OpenSettings {
  return {
    url: row.url,
    transport: row.transport,
    authType: row.authType,
    headers: secrets.headers,
    mapped: storedTargets(row.secretMappings),
    user_identity_forwarding: row.userIdentityForwarding,
    jwt_validation: row.jwtValidation && withSecret(row.jwtValidation, secrets.introspectionClientSecret),
    forward_headers: row.forwardHeaders,
    allowedOrigins: row.allowedOrigins,
    timeouts: row.timeouts,
    enabled: row.enabled,
  };
}

/** The secrets in a body, for `mergeFields`. `jwt_validation` is replaced as a whole, so it removes the old secret. */
export function givenFields(dto: Changes, before: Pick<OpenSettings, 'headers'> = DEFAULTS): Fields {
  const { headers, jwt_validation } = dto;
  const isWithout = dto.auth_type === 'none' && headers === undefined;
  const removed = isWithout ? Object.fromEntries(Object.keys(before.headers).map((name) => [name, null])) : headers;
  const fields = toFields({ headers: removed, jwt_validation });
  const secret = jwt_validation?.introspection?.client_secret ?? null;
  return jwt_validation === undefined ? fields : new Map([...fields, [CLIENT_SECRET, secret]]);
}

/**
 * Merges an update into the stored settings. `headers` are merged, everything else is replaced. `kept` are the stored
 * secrets that the update does not send, for `assertSameHosts`.
 * @throws GatewayError `validation_failed` for masks of anything but the stored secrets
 */
export function changedSettings(
  stored: OpenSettings,
  dto: Changes,
  mapped: MappedTargets,
): { readonly settings: OpenSettings; readonly kept: readonly string[] } {
  const given = givenFields(dto, stored);
  const { fields, kept } = mergeFields(MCP_SERVER_CONFIG, { stored: toFields(stored), given, mapped });
  const headers = headersIn(fields);
  const hasHeaders = Object.keys(headers).length + mappedHeaderNames(mapped).length > 0;
  const validation = changed(stored.jwt_validation, dto.jwt_validation);
  const settings = {
    url: dto.url ?? stored.url,
    transport: dto.transport ?? stored.transport,
    authType: dto.auth_type ?? (hasHeaders ? 'headers' : 'none'),
    headers,
    mapped,
    user_identity_forwarding: changed(stored.user_identity_forwarding, dto.user_identity_forwarding),
    jwt_validation: validation && withSecret(validation, clientSecretIn(fields)),
    forward_headers: changed(stored.forward_headers, dto.forward_headers),
    allowedOrigins: dto.allowed_origins ?? stored.allowedOrigins,
    timeouts: dto.timeouts ?? stored.timeouts,
    enabled: dto.enabled ?? stored.enabled,
  };
  return { settings, kept };
}

/** Whether an update changes nothing. */
export function isSameSettings(one: OpenSettings, other: OpenSettings): boolean {
  const fields = ({ mapped, ...others }: OpenSettings): object => ({ ...others, mapped: [...mapped.keys()].sort() });
  return isSameValue(fields(one), fields(other));
}

/**
 * Requires an update of a server whose secrets do not decrypt to send all of them. The names of the stored headers are
 * sealed too, so the headers of the update count as all.
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

function changed<Value>(stored: Value, update: Value | undefined): Value {
  return update === undefined ? stored : update;
}
