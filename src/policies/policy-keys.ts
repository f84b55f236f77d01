/** What a condition may look at, and a group be made of, besides `metadata.<name>`. */
const KEYS = [
  'api_key',
  'organisation_id',
  'workspace_id',
  'virtual_key',
  'provider',
  'model',
  'endpoint',
  'mcp_server',
  'mcp_tool',
] as const;
type PlainKey = (typeof KEYS)[number];

const METADATA = 'metadata.';
/** As long as the names of request metadata may be. */
const MAX_METADATA_NAME = 128;

/** `model`, `metadata.user`, … */
export type PolicyKey = PlainKey | `metadata.${string}`;

/** What policies see of a call. A fact that a call does not have is undefined. */
export type PolicyFacts = Readonly<Record<PlainKey, string | undefined>> & {
  readonly metadata: Readonly<Record<string, string>>;
  /** Other names that a condition may have for the model. */
  readonly modelAliases?: readonly string[];
};

export function isPolicyKey(key: unknown): key is PolicyKey {
  if (typeof key !== 'string') return false;
  if (KEYS.some((known) => known === key)) return true;
  return key.startsWith(METADATA) && key.length > METADATA.length && key.length <= METADATA.length + MAX_METADATA_NAME;
}

/** Said in errors. */
export const POLICY_KEYS_TEXT = `${KEYS.join(', ')} or metadata.<name>`;

/** The value of a key in a call; undefined when the call has none. */
export function factOf(facts: PolicyFacts, key: PolicyKey): string | undefined {
  if (!isMetadataKey(key)) return facts[key];
  const name = key.slice(METADATA.length);
  return Object.hasOwn(facts.metadata, name) ? facts.metadata[name] : undefined;
}

function isMetadataKey(key: PolicyKey): key is `metadata.${string}` {
  return key.startsWith(METADATA);
}
