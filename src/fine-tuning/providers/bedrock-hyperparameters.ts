// Names of hyperparameters at Bedrock. Source: https://docs.aws.amazon.com/bedrock/latest/userguide/custom-models-hp.html, read 2026-11-21.
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { FieldRule } from '../../common/validation/body-fields.js';

/** At Bedrock, by name and as text. */
export type Hyperparameters = Readonly<Record<string, string>>;

/** The one name that differs by more than its spelling: ours is `learning_rate` where Bedrock's is `learningRate`. */
const EPOCHS = { ours: 'n_epochs', theirs: 'epochCount' } as const;

/** Bedrock writes all values as text. A missing epoch count means the default; missing hyperparameters mean unknown. */
export function fromBedrockHyperparameters(given: unknown): JsonObject {
  if (!isObject(given)) return { n_epochs: null };
  const entries = Object.entries(given).map(([name, value]) => [toOurs(name), toNumber(value)] as const);
  return { n_epochs: 'auto', ...Object.fromEntries(entries) };
}

/** Accepts both spellings of a name. Leaves out `auto`, since Bedrock uses its default for missing values. */
export const HYPERPARAMETERS: FieldRule<Hyperparameters> = {
  read(value) {
    if (!isObject(value)) return undefined;
    const entries = Object.entries(value).filter(([, given]) => given !== 'auto' && given !== null);
    const named = entries.map(([name, given]) => [toTheirs(name), given] as const);
    if (!named.every(([name, given]) => isValue(given) && (name !== EPOCHS.theirs || isEpochCount(given)))) {
      return undefined;
    }
    // Of two spellings of one name, neither may be dropped in silence.
    if (new Set(named.map(([name]) => name)).size < named.length) return undefined;
    return Object.fromEntries(named.map(([name, given]) => [name, String(given)]));
  },
  expected: 'must be an object of numbers and texts, each name once, n_epochs a whole number above 0 or auto',
};

function toTheirs(name: string): string {
  if (name === EPOCHS.ours) return EPOCHS.theirs;
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function toOurs(name: string): string {
  if (name === EPOCHS.theirs) return EPOCHS.ours;
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isEpochCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function isValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(value) ? Number(value) : value;
}
