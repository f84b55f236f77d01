import { isDeepStrictEqual } from 'node:util';
import { type FieldProblem, fieldError } from '../common/errors/gateway.error.js';
import type { Offer } from '../upstream/providers/offered-endpoints.js';
import { PROVIDER_SLUGS } from '../upstream/providers/provider.types.js';
import { NAME_FOLDS } from '../usage/call-names.js';
import { ANY, compileConditions, type Condition, ownerOf } from './conditions.js';
import type { PolicyAttributes, PolicyKey } from './policy-keys.js';

/** What is known about the calls that conditions can mean. */
export interface KnownCalls {
  readonly metered: readonly Offer[];
  /** The providers of a virtual key by its slug; undefined: there is none of this name. */
  readonly providersOf: (virtualKey: string) => readonly string[] | undefined;
}

/** The keys that decide whether a call is metered, besides the virtual key. Calls of MCP tools are not. */
const DECISIVE: readonly PolicyKey[] = ['endpoint', 'provider', 'mcp_server', 'mcp_tool'];

/** What keeps the conditions of a policy from ever limiting a call; undefined: nothing. */
export function senselessCondition(conditions: readonly Condition[], known: KnownCalls): FieldProblem | undefined {
  return contradiction(conditions) ?? unmetered(conditions, known);
}

/** A policy that could count nothing would look like a limit, and be none. */
function unmetered(conditions: readonly Condition[], known: KnownCalls): FieldProblem | undefined {
  if (canBeMetered(conditions, known)) return undefined;
  const names = [...new Set(known.metered.map(({ endpoint }) => endpoint))].join(', ');
  const expected = `match only calls that are not metered, which no limit stops; metered endpoints: ${names}`;
  const alone = conditions.findIndex((condition) => !canBeMetered([condition], known));
  return fieldError(alone === -1 ? 'conditions' : `conditions.${alone}.value`, `must not ${expected}`);
}

function canBeMetered(conditions: readonly Condition[], known: KnownCalls): boolean {
  const matches = compileConditions(conditions.filter(({ key }) => DECISIVE.includes(key)));
  const isPossible = conditions
    .filter(({ key }) => key === 'virtual_key' || key === 'model')
    .map(({ key, value }) => {
      const found = [value].flat().map((text) => (key === 'model' ? ofOwner(text, known) : ofKey(text, known)));
      // A pattern, or a virtual key that is gone, can mean any provider.
      return (provider: string) => found.some((providers) => providers?.includes(provider) ?? true);
    });
  return known.metered.some(
    ({ endpoint, provider }) =>
      matches({ ...NO_FACTS, endpoint, provider }) && isPossible.every((isOfKey) => isOfKey(provider)),
  );
}

/** The providers of a virtual key; undefined where it may be every provider. */
function ofKey(slug: string, { providersOf }: KnownCalls): readonly string[] | undefined {
  return slug.endsWith(ANY) ? undefined : providersOf(slug);
}

/** The providers of a model by what stands before its name: a provider, or a virtual key. */
function ofOwner(model: string, { providersOf }: KnownCalls): readonly string[] | undefined {
  const owner = ownerOf(model);
  if (owner === undefined) return undefined;
  const ofVirtualKey = providersOf(owner) ?? [];
  if (PROVIDER_SLUGS.some((slug) => slug === owner)) return [owner, ...ofVirtualKey];
  return ofVirtualKey.length === 0 ? undefined : ofVirtualKey;
}

const NO_FACTS: PolicyAttributes = {
  api_key: undefined,
  organisation_id: undefined,
  workspace_id: undefined,
  virtual_key: undefined,
  provider: undefined,
  model: undefined,
  endpoint: undefined,
  mcp_server: undefined,
  model_requested: undefined,
  mcp_tool: undefined,
  metadata: {},
};

/** Conditions on one key that no value meets together. A model has several names, so that two of them may mean one call. */
function contradiction(conditions: readonly Condition[]): FieldProblem | undefined {
  const left = new Map<PolicyKey, readonly string[]>();
  for (const [index, { key, value, excludes = [] }] of conditions.entries()) {
    const before = left.get(key);
    const named = [value].flat().map((text) => folded(key, text));
    const both = before === undefined || key === 'model' ? named : meetings(before, named);
    if (both.length === 0) {
      return fieldError(`conditions.${index}.value`, 'must not contradict another condition on the same key');
    }
    const excluded = [excludes].flat().map((text) => folded(key, text));
    const kept = both.filter((text) => text === ANY || !excluded.some((pattern) => covers(pattern, text)));
    if (kept.length === 0) {
      return fieldError(`conditions.${index}.excludes`, 'must leave a value that the conditions on this key allow');
    }
    left.set(key, kept);
  }
  return undefined;
}

const FOLDS: Readonly<Partial<Record<PolicyKey, (text: string) => string>>> = NAME_FOLDS;

function folded(key: PolicyKey, text: string): string {
  return FOLDS[key]?.(text) ?? text;
}

/** The patterns for what matches one of either side. */
function meetings(one: readonly string[], other: readonly string[]): readonly string[] {
  return one.flatMap((a) => other.flatMap((b) => (covers(a, b) ? [b] : covers(b, a) ? [a] : [])));
}

/** Whether a pattern matches everything that another one, or a text, does. */
function covers(pattern: string, text: string): boolean {
  return pattern.endsWith(ANY) ? text.startsWith(pattern.slice(0, -1)) : pattern === text;
}

/** Whether conditions are written back as they are stored. */
export function isUnchanged(conditions: readonly Condition[], stored: readonly Condition[]): boolean {
  return isDeepStrictEqual(conditions.map(plain), stored.map(plain));
}

function plain({ key, value, excludes }: Condition): object {
  return { key, value, excludes: excludes ?? null };
}
