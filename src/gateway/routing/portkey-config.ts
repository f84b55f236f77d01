// Configs of Portkey's clients. Source: https://portkey.ai/docs/api-reference/inference-api/config-object, read 2026-11-28.
import { invalidField } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject, stringOrUndefined } from '../../common/json/read.js';

export const CONFIG_HEADER = 'x-portkey-config';
/** A virtual key as `@slug`. */
export const PROVIDER_HEADER = 'x-portkey-provider';

/** A virtual key that a config names, with the model that it sets there. */
export interface ConfigTarget {
  /** The slug. */
  readonly virtualKey: string;
  /** undefined means the model of the request. */
  readonly model: string | undefined;
  readonly order: number;
  readonly weight?: number;
  /** Milliseconds. */
  readonly timeoutMs?: number;
}

/** The facts that conditions compare. */
export interface ConfigFacts {
  readonly metadata: Readonly<Record<string, string>>;
  readonly model: string | undefined;
}

interface NamedTarget extends ConfigTarget {
  readonly name: string | undefined;
}

const MAX_ITEMS = 16;
const MAX_DEPTH = 4;
const MODES = ['single', 'fallback', 'loadbalance', 'conditional'];
/** Ignored: the gateway does these in its own way, or not at all (answers are not cached). */
const IGNORED = ['name', 'cache', 'retry', 'strict_open_ai_compliance'];
const OF_TARGET = new Set([...IGNORED, 'virtual_key', 'provider', 'override_params', 'weight', 'request_timeout']);
const MAX_TIMEOUT_MS = 3_600_000;
const OF_CONFIG = new Set([...OF_TARGET, 'strategy', 'targets']);
const OF_STRATEGY = new Set(['mode', 'on_status_codes', 'conditions', 'default']);

/**
 * The targets of a config that a call may be sent to; empty when the config names no virtual key.
 * @throws GatewayError `validation_failed` for unknown members, credentials and addresses
 */
export function targetsOfConfig(text: string, facts: ConfigFacts): readonly ConfigTarget[] {
  const config = parse(text);
  assertKnown(config, OF_CONFIG, '');
  const { strategy = {}, targets } = config;
  if (targets === undefined) return ofOneTarget(config);
  if (!isObject(strategy)) throw wrong('.strategy', 'must be an object');
  assertKnown(strategy, OF_STRATEGY, '.strategy');
  const { mode = 'single' } = strategy;
  if (!MODES.some((known) => known === mode)) throw wrong('.strategy.mode', `must be one of ${MODES.join(', ')}`);
  const found = listOf(targets, '.targets').map((target, index) => {
    const path = `.targets.${index}`;
    if (!isObject(target)) throw wrong(path, 'must be an object');
    assertKnown(target, OF_TARGET, path);
    // As in Portkey: targets inherit the parameters and the time limit of the config.
    const { override_params = config['override_params'], request_timeout = config['request_timeout'] } = target;
    return readTarget({ ...target, override_params, request_timeout }, mode === 'fallback' ? index : 0, path);
  });
  switch (mode) {
    case 'fallback':
      return found.map(({ weight: _none, ...target }) => target);
    case 'loadbalance': {
      const open = found.filter(({ weight }) => weight !== 0);
      if (open.length === 0) throw wrong('.targets', 'must have a target whose weight is not 0');
      return open.map((target) => ({ weight: 1, ...target }));
    }
    case 'conditional':
      return [chosen(strategy, found, facts)];
    default:
      return found.slice(0, 1);
  }
}

/** Beside a virtual key that the request names elsewhere, a config can say only what is ignored. */
function ofOneTarget(config: JsonObject): readonly ConfigTarget[] {
  if (config['virtual_key'] !== undefined || config['provider'] !== undefined) return [readTarget(config, 0, '')];
  const idle = Object.keys(config).find((member) => !IGNORED.includes(member));
  if (idle !== undefined) throw wrong(`.${idle}`, 'needs a virtual key in the config: virtual_key, or targets');
  return [];
}

function parse(text: string): JsonObject {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch {
    // Below.
  }
  if (isObject(config)) return config;
  throw wrong('', 'must be the JSON object of a config: ids of stored ones are not known. A model route does the same');
}

function readTarget(target: JsonObject, order: number, path: string): NamedTarget {
  const { virtual_key: key, provider, override_params: params = {}, weight, name } = target;
  const slug = stringOrUndefined(key) ?? slugIn(provider);
  if (slug === undefined)
    throw wrong(`${path}.virtual_key`, 'must be the slug of a virtual key (or provider: "@slug")');
  if (!isObject(params) || Object.keys(params).some((param) => param !== 'model'))
    throw wrong(`${path}.override_params`, 'can set the model only');
  const { model } = params;
  if (model !== undefined && (typeof model !== 'string' || model === '' || model.length > 512))
    throw wrong(`${path}.override_params.model`, 'must be a text of 1 to 512 characters');
  if (weight !== undefined && (typeof weight !== 'number' || weight < 0 || weight > 1_000_000))
    throw wrong(`${path}.weight`, 'must be a number from 0 to 1000000');
  const timeoutMs = timeoutIn(target, path);
  return {
    virtualKey: slug,
    model,
    order,
    name: stringOrUndefined(name),
    ...(weight !== undefined && { weight }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function timeoutIn({ request_timeout: timeout }: JsonObject, path: string): number | undefined {
  if (timeout === undefined || timeout === null) return undefined;
  if (typeof timeout === 'number' && Number.isInteger(timeout) && timeout >= 1 && timeout <= MAX_TIMEOUT_MS)
    return timeout;
  throw wrong(`${path}.request_timeout`, `must be a whole number from 1 to ${MAX_TIMEOUT_MS}`);
}

/** Portkey's clients also name a provider with its key, which says nothing here. */
export function slugIn(provider: unknown): string | undefined {
  return typeof provider === 'string' && /^@./.test(provider) ? provider.slice(1) : undefined;
}

function chosen(
  { conditions, default: last }: JsonObject,
  targets: readonly NamedTarget[],
  facts: ConfigFacts,
): NamedTarget {
  const named = (name: unknown, path: string): NamedTarget => {
    const target = targets.find((one) => one.name !== undefined && one.name === name);
    if (target === undefined) throw wrong(path, 'must be the name of a target');
    return target;
  };
  for (const [index, condition] of listOf(conditions, '.strategy.conditions').entries()) {
    const path = `.strategy.conditions.${index}`;
    if (!isObject(condition) || !isObject(condition['query'])) throw wrong(`${path}.query`, 'must be an object');
    if (isMet(condition['query'], facts, `${path}.query`, 0)) return named(condition['then'], `${path}.then`);
  }
  return named(last, '.strategy.default');
}

function isMet(query: JsonObject, facts: ConfigFacts, path: string, depth: number): boolean {
  if (depth > MAX_DEPTH) throw wrong(path, 'must not be nested deeper');
  return Object.entries(query).every(([key, wanted]) => {
    const at = `${path}.${key}`;
    if (key === '$and' || key === '$or') {
      const parts = listOf(wanted, at).map((part) => {
        if (!isObject(part)) throw wrong(at, 'must be a list of objects');
        return isMet(part, facts, at, depth + 1);
      });
      return key === '$and' ? parts.every(Boolean) : parts.some(Boolean);
    }
    const fact = factOf(key, facts, at);
    const tests = isObject(wanted) ? wanted : { $eq: wanted };
    return Object.entries(tests).every(([operator, operand]) => compare(fact, operator, operand, at));
  });
}

function factOf(key: string, { metadata, model }: ConfigFacts, path: string): string | undefined {
  if (key === 'params.model') return model;
  const name = key.startsWith('metadata.') ? key.slice('metadata.'.length) : undefined;
  if (name === undefined) throw wrong(path, 'is not known: metadata.<name> and params.model are');
  return Object.hasOwn(metadata, name) ? metadata[name] : undefined;
}

function compare(fact: string | undefined, operator: string, operand: unknown, path: string): boolean {
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  switch (operator) {
    case '$eq':
      return fact === text(operand);
    case '$ne':
      return fact !== text(operand);
    case '$in':
      return listOf(operand, path).some((one) => fact === text(one));
    case '$nin':
      return listOf(operand, path).every((one) => fact !== text(one));
    case '$gt':
      return Number(fact) > Number(operand);
    case '$gte':
      return Number(fact) >= Number(operand);
    case '$lt':
      return Number(fact) < Number(operand);
    case '$lte':
      return Number(fact) <= Number(operand);
    default:
      throw wrong(path, 'must use $eq, $ne, $in, $nin, $gt, $gte, $lt or $lte');
  }
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value) && value.length >= 1 && value.length <= MAX_ITEMS) return value;
  throw wrong(path, `must be a list of 1 to ${MAX_ITEMS} items`);
}

function assertKnown(object: JsonObject, known: ReadonlySet<string>, path: string): void {
  const name = Object.keys(object).find((member) => !known.has(member));
  if (name === undefined) return;
  const why = 'is not taken from a header: credentials, addresses and everything else stand in the virtual key';
  throw wrong(`${path}.${name.slice(0, 64)}`, why);
}

function wrong(path: string, expected: string): Error {
  return invalidField(CONFIG_HEADER + path, expected);
}
