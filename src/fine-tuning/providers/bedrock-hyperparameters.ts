// Names of hyperparameters at Bedrock. Source: https://docs.aws.amazon.com/bedrock/latest/userguide/custom-models-hp.html, read 2026-11-21.
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { FieldRule } from '../../common/validation/body-fields.js';

/** Names at OpenAI and at Bedrock. Other hyperparameters have the same name at both. */
const NAMES: readonly (readonly [ours: string, theirs: string])[] = [
  ['n_epochs', 'epochCount'],
  ['batch_size', 'batchSize'],
  ['learning_rate_multiplier', 'learningRateMultiplier'],
];
const TO_OURS: ReadonlyMap<string, string> = new Map(NAMES.map(([ours, theirs]) => [theirs, ours]));
const TO_THEIRS: ReadonlyMap<string, string> = new Map(NAMES);

/** Bedrock writes all values as text. A missing epoch count means the default; missing hyperparameters mean unknown. */
export function fromBedrockHyperparameters(given: unknown): JsonObject {
  if (!isObject(given)) return { n_epochs: null };
  const entries = Object.entries(given).map(([name, value]) => [TO_OURS.get(name) ?? name, toNumber(value)] as const);
  return { n_epochs: 'auto', ...Object.fromEntries(entries) };
}

/** Leaves out `auto`, since Bedrock uses its default for missing values. */
export const HYPERPARAMETERS: FieldRule<Readonly<Record<string, string>>> = {
  read(value) {
    if (!isObject(value)) return undefined;
    const entries = Object.entries(value).filter(([, given]) => given !== 'auto' && given !== null);
    if (!entries.every(([name, given]) => isValue(given) && (name !== 'n_epochs' || isEpochCount(given)))) {
      return undefined;
    }
    return Object.fromEntries(entries.map(([name, given]) => [TO_THEIRS.get(name) ?? name, String(given)]));
  },
  expected: 'must be an object of numbers and texts, n_epochs a whole number above 0 or auto',
};

function isEpochCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(value) ? Number(value) : value;
}
