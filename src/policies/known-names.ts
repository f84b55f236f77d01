import { type GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { foldId, isUuid } from '../common/uuid.js';
import { PROVIDER_SLUGS } from '../upstream/providers/provider.types.js';
import { ANY, ownerOf } from './conditions.js';
import type { PolicyKey } from './policy-keys.js';

/** What the names in policies and simulated calls can mean, within a tenant. */
export interface KnownNames {
  readonly organisationId: string;
  readonly workspaceIdOf: (ref: string) => string | undefined;
  readonly callers: ReadonlySet<string>;
  /** The providers of the virtual keys by slug. */
  readonly virtualKeys: ReadonlyMap<string, readonly string[]>;
  readonly endpoints: readonly string[];
}

/** A name that the policy already has. Earlier versions stored slugs of workspaces without a look-up. */
export function again({ workspaceIdOf }: KnownNames, key: PolicyKey, name: string): string {
  return key === 'workspace_id' ? (workspaceIdOf(name) ?? name) : name;
}

/** Patterns of these have to match something that exists. Calls carry the id of a workspace, so none matches its slug. */
const CHECKED_PATTERNS: readonly PolicyKey[] = ['workspace_id', 'provider', 'endpoint', 'model'];

/**
 * Returns a value of a condition as calls have it: a name, or the beginning of names and `*`.
 * @throws GatewayError `validation_failed` for a name that no call can have
 */
export function readPattern(known: KnownNames, key: PolicyKey, text: string, param: string): string {
  if (text === ANY) return text;
  if (text.endsWith(ANY)) {
    const beginning = text.slice(0, -ANY.length).toLowerCase();
    const listed = key === 'provider' ? PROVIDER_SLUGS : key === 'endpoint' ? known.endpoints : [];
    const isKnown = listed.some((slug) => slug.startsWith(beginning));
    if (isKnown || !CHECKED_PATTERNS.includes(key)) return text;
  }
  return readName(known, key, text, param);
}

/**
 * Returns a name as calls have it.
 * @throws GatewayError `validation_failed` for a name that no call can have
 */
export function readName(known: KnownNames, key: PolicyKey, name: string, param: string): string {
  switch (key) {
    case 'workspace_id': {
      const id = known.workspaceIdOf(name);
      if (id !== undefined) return id;
      throw invalidField(param, `has no workspace ${JSON.stringify(name)}`);
    }
    case 'api_key':
      if (known.callers.has(foldId(name))) return name;
      throw unknownApiKey(name, param);
    case 'organisation_id':
      if (foldId(name) === known.organisationId) return name;
      throw invalidField(param, "must be the id of the caller's organisation");
    case 'virtual_key':
      if (isUuid(name)) throw invalidField(param, 'must be the slug of a virtual key, not its id');
      if (known.virtualKeys.has(name)) return name;
      throw invalidField(param, `has no virtual key ${JSON.stringify(name)}`);
    case 'model': {
      const owner = ownerOf(name);
      if (owner === undefined || isProvider(owner) || known.virtualKeys.has(owner)) return name;
      throw invalidField(param, `has no provider or virtual key ${JSON.stringify(owner)} before the name of the model`);
    }
    case 'endpoint':
      if (known.endpoints.includes(name.toLowerCase())) return name;
      throw invalidField(param, `must be one of ${known.endpoints.join(', ')}`);
    case 'mcp_server':
      if (isUuid(name)) throw invalidField(param, 'must be the slug of an MCP server, not its id');
      return name;
    case 'provider':
      if (isProvider(name.toLowerCase())) return name;
      throw invalidField(param, `must be one of ${PROVIDER_SLUGS.join(', ')}`);
    default:
      return name;
  }
}

export function unknownApiKey(name: string, param: string): GatewayError {
  return invalidField(param, `has no API key ${JSON.stringify(name)}; it takes ids`);
}

function isProvider(name: string): boolean {
  return PROVIDER_SLUGS.some((slug) => slug === name);
}
