import type { ModelName } from '../upstream/providers/provider.types.js';
import { isMetadataKey, type MetadataKey, metadataNameOf } from '../usage/metadata-key.js';

/** Keys of conditions and groups, besides `metadata.<name>`. */
const KEYS = [
  'api_key',
  'organisation_id',
  'workspace_id',
  'virtual_key',
  'provider',
  'model',
  'model_requested',
  'endpoint',
  'mcp_server',
  'mcp_tool',
] as const;
type PlainKey = (typeof KEYS)[number];

/** `model`, `metadata.user`, … */
export type PolicyKey = PlainKey | MetadataKey;

/** The attributes of a call that policies read. Undefined when the call does not have them. */
export type PolicyAttributes = Readonly<Record<PlainKey, string | undefined>> & {
  readonly metadata: Readonly<Record<string, string>>;
  /** Other names for the model in conditions. */
  readonly modelAliases?: readonly ModelName[];
};

export function isPolicyKey(key: unknown): key is PolicyKey {
  return typeof key === 'string' && (KEYS.some((known) => known === key) || isMetadataKey(key));
}

/** Part of error messages. */
export const POLICY_KEYS_TEXT = `${KEYS.join(', ')} or metadata.<name>`;

/** The value of a key in a call; undefined when the call has none. */
export function factOf(facts: PolicyAttributes, key: PolicyKey): string | undefined {
  if (!isMetadataKey(key)) return facts[key];
  const name = metadataNameOf(key);
  return Object.hasOwn(facts.metadata, name) ? facts.metadata[name] : undefined;
}
