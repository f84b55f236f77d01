import type { MaybePromise } from '../../common/maybe-promise.js';
import type { Freshness, ReadSecret } from '../../identity/config/identity-config.js';
import {
  type LoadedMapping,
  type MappedValues,
  mappedValuesNotValid,
  type SecretFieldValues,
} from '../../secret-references/mapped-resource/mapped-values.js';
import { valueProblem } from './check-mcp-server.js';
import { CLIENT_SECRET, headerOf } from './mcp-server.fields.js';

/** As messages call it. */
const OWNER = 'MCP server';
const MAX_CLIENT_SECRET_CHARACTERS = 1_024;

/**
 * What of a server comes from secret references. It is read for every use: values are kept by the secret references alone, for
 * their time, so that a rotation takes effect as soon as they notice it.
 */
export interface MappedSecrets {
  readonly headerNames: readonly string[];
  /** @throws GatewayError `secret_unavailable`, also for values that are not valid headers; its reason names the fields */
  readonly readHeaders: (freshness: Freshness) => MaybePromise<Readonly<Record<string, string>>>;
  /** Undefined when the client secret is not mapped. */
  readonly readClientSecret: ReadSecret | undefined;
}

const NO_HEADERS = {} as const;

export function mappedSecrets(values: MappedValues, mappings: readonly LoadedMapping[]): MappedSecrets {
  const ofHeaders = mappings.filter(({ targetField }) => headerOf(targetField) !== undefined);
  const ofClient = mappings.filter(({ targetField }) => targetField === CLIENT_SECRET);
  return {
    headerNames: ofHeaders.map(({ targetField }) => headerOf(targetField) ?? ''),
    readHeaders: (freshness) =>
      ofHeaders.length === 0 ? NO_HEADERS : values.read(ofHeaders, freshness).then(toHeaders),
    readClientSecret:
      ofClient.length === 0 ? undefined : async (freshness) => toClientSecret(await values.read(ofClient, freshness)),
  };
}

function toHeaders(values: SecretFieldValues): Readonly<Record<string, string>> {
  const broken = [...values].filter(([, value]) => valueProblem(value) !== undefined).map(([field]) => field);
  if (broken.length > 0) throw mappedValuesNotValid(OWNER, broken);
  return Object.fromEntries([...values].map(([field, value]) => [headerOf(field) ?? '', String(value)]));
}

function toClientSecret(values: SecretFieldValues): string {
  const secret = values.get(CLIENT_SECRET);
  if (typeof secret === 'string' && secret !== '' && secret.length <= MAX_CLIENT_SECRET_CHARACTERS) return secret;
  throw mappedValuesNotValid(OWNER, [CLIENT_SECRET]);
}
