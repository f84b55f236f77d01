import { createHash } from 'node:crypto';
import { isObject } from '../../common/json/read.js';

/** The longest name of a tool, or id of a call, that OpenAI and Converse accept. */
const MAX_NAME = 64;
const HASH_CHARACTERS = 8;
const NOT_IN_NAME = /[^a-zA-Z0-9_-]/g;

/** Fits a name or an id to all providers. Equal names stay equal, and different names stay different. */
export function fittedName(name: string): string {
  const fitted = name.replaceAll(NOT_IN_NAME, '_');
  if (fitted === name && name.length <= MAX_NAME) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS);
  return `${fitted.slice(0, MAX_NAME - HASH_CHARACTERS - 1)}_${hash}`;
}

/** The caller's names of its tools, by their fitted names. Unchanged names are absent. */
export type OwnNames = ReadonlyMap<string, string>;

export function ownNamesOf(tools: unknown): OwnNames {
  const names = (Array.isArray(tools) ? tools : []).map((tool) => (isObject(tool) ? tool['name'] : undefined));
  return new Map(names.flatMap((name) => (typeof name === 'string' ? namePair(name) : [])));
}

function namePair(name: string): readonly (readonly [string, string])[] {
  const fitted = fittedName(name);
  return fitted === name ? [] : [[fitted, name]];
}
