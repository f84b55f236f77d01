// Names of hyperparameters at Bedrock. Source: https://docs.aws.amazon.com/bedrock/latest/userguide/custom-models-hp.html, read 2026-11-21.
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { BodyFields } from '../../common/validation/body-fields.js';

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

/**
 * The hyperparameters of a request. Each has one spelling, ours: of two, which one counts would be a guess. Leaves out
 * `auto`, since Bedrock uses its default for missing values.
 * @param path of the hyperparameters, for the problems that are added to `fields`
 */
export function toBedrockHyperparameters(given: unknown, path: string, fields: BodyFields): Hyperparameters {
  if (!isObject(given)) {
    fields.refuse(path, 'must be an object');
    return {};
  }
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  for (const [name, value] of entries) {
    const ours = toOurs(toTheirs(name));
    const expected = name === EPOCHS.ours ? 'a whole number above 0, or auto' : 'a number, a text or a boolean';
    if (ours !== name) fields.refuse(`${path}.${name}`, `must be written ${ours}`);
    else if (!isValue(name, value)) fields.refuse(`${path}.${name}`, `must be ${expected}`);
  }
  return Object.fromEntries(
    entries.filter(([, value]) => value !== 'auto').map(([name, value]) => [toTheirs(name), String(value)]),
  );
}

function toTheirs(name: string): string {
  if (name === EPOCHS.ours) return EPOCHS.theirs;
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

function toOurs(name: string): string {
  if (name === EPOCHS.theirs) return EPOCHS.ours;
  return name.replaceAll(/[A-Z]/g, (letter, place: number) => (place === 0 ? '' : '_') + letter.toLowerCase());
}

function isValue(name: string, value: unknown): boolean {
  if (name !== EPOCHS.ours) return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  return value === 'auto' || (typeof value === 'number' && Number.isSafeInteger(value) && value > 0);
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(value) ? Number(value) : value;
}
