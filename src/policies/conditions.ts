import { isObject } from '../common/json/read.js';
import { NAME_FOLDS } from '../usage/call-names.js';
import type { ModelName } from '../upstream/providers/provider.types.js';
import { compilePattern, foldModel } from '../usage/model-names.js';
import { factOf, isPolicyKey, type PolicyAttributes, type PolicyKey } from './policy-keys.js';

/** One condition of a policy: the key has one of the values and none of the excluded ones. */
export interface Condition {
  readonly key: PolicyKey;
  readonly value: string | readonly string[];
  readonly excludes?: string | readonly string[];
}

export type Matches = (facts: PolicyAttributes) => boolean;

/** Matches any value and a missing one, so that callers cannot evade a cap by leaving the key out. */
export const ANY = '*';
/** Longer than any value of a condition. A model's name may be as long as a body and is compared many times. */
const MAX_COMPARED = 4_096;
const MEMBERS: ReadonlySet<string> = new Set<keyof Condition>(['key', 'value', 'excludes']);
const OWNER = /^(@[^/]*(?:\/|$))?(.*)$/s;
/** Up to the first slash: models have slashes in their names too. */
const NAMED_OWNER = /^@([^/]*)\//;

/**
 * Returns a matcher for calls that meet all conditions. Created once per policy.
 * @throws Error when a condition is malformed
 */
export function compileConditions(conditions: readonly Condition[]): Matches {
  if (!Array.isArray(conditions) || !conditions.every(isCondition)) throw new Error('a condition cannot be read');
  const checks = conditions.map(compileCondition);
  return (facts) => checks.every((check) => check(facts));
}

/** Returns a matcher that checks only the readable conditions. */
export function compileReadable(conditions: unknown): Matches {
  return compileConditions(readableConditions(conditions));
}

export function readableConditions(conditions: unknown): readonly Condition[] {
  return Array.isArray(conditions) ? conditions.filter(isCondition) : [];
}

function isCondition(condition: unknown): condition is Condition {
  if (!isObject(condition) || !isPolicyKey(condition['key']) || !isValue(condition['value'])) return false;
  // Fields of another version may reverse the meaning of a condition.
  if (!Object.keys(condition).every((name) => MEMBERS.has(name))) return false;
  return condition['excludes'] === undefined || isValue(condition['excludes']);
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'));
}

function compileCondition({ key, value, excludes }: Condition): Matches {
  const fold = FOLDS[key] ?? asWritten;
  const values = toArray(value);
  const wanted = values.includes(ANY) ? undefined : values.map((text) => compilePattern(fold(text)));
  const excluded = toArray(excludes ?? []).map((text) => compilePattern(fold(text)));
  return (facts) => {
    const names = namesOf(facts, key);
    if (excluded.some((isExcluded) => names.some(isExcluded))) return false;
    return wanted === undefined || wanted.some((isWanted) => names.some(isWanted));
  };
}

/** A model matches by its own names, by `@<provider>/<name>` and by `@<virtual key>/<name>`. */
function namesOf(facts: PolicyAttributes, key: PolicyKey): readonly ModelName[] {
  const fact = factOf(facts, key);
  if (fact === undefined) return [];
  const own = { text: fact, markLength: 0 };
  if (key !== 'model') return [own];
  const owners = [facts.provider, facts.virtual_key].filter((owner) => owner !== undefined);
  const names = [own, ...(facts.modelAliases ?? [])].map(({ text, markLength }) => {
    return { text: text.slice(0, MAX_COMPARED), markLength };
  });
  return [...names, ...owners.flatMap((owner) => names.map((name) => withOwner(owner, name)))];
}

function withOwner(owner: string, { text, markLength }: ModelName): ModelName {
  const before = `@${owner}/`;
  return { text: before + text, markLength: markLength === 0 ? 0 : before.length + markLength };
}

/** The provider or virtual key before the name of a model; undefined: none. */
export function ownerOf(model: string): string | undefined {
  return NAMED_OWNER.exec(model)?.[1];
}

/** Normalises values of keys that have one spelling in calls. */
const FOLDS: Readonly<Partial<Record<PolicyKey, (value: string) => string>>> = {
  ...NAME_FOLDS,
  model: foldName,
};

function asWritten(value: string): string {
  return value;
}

/** Normalises the name of a model as calls do. The name of the owner stays unchanged. */
function foldName(value: string): string {
  const [, owner = '', name = ''] = OWNER.exec(value) ?? [];
  return owner + foldModel(name);
}

function toArray(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}
