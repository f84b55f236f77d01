import { isDeeperThan, MAX_JSON_DEPTH } from '../common/json/scan.js';
import { isObject, type JsonObject } from '../common/json/read.js';
import { type SecretDocument, SecretError } from './managers/secret-manager.types.js';
import type { ValueFormat } from './secret-mapping.entity.js';

/** Which part of a secret is meant, and in which form. */
export interface ValueSelector {
  /** null: the whole text, or the only field. */
  readonly secretKey: string | null;
  readonly valueFormat: ValueFormat;
}

/**
 * The value that a mapping means: for `string` a text, for `json` whatever the secret holds.
 * @throws SecretError `key_missing`, `not_json`, `not_text`
 */
export function readSecretValue(document: SecretDocument, { secretKey, valueFormat }: ValueSelector): unknown {
  const found = document.kind === 'text' ? fromText(document.text, secretKey) : fromFields(document.fields, secretKey);
  return valueFormat === 'string' ? toText(found) : toJson(found);
}

function fromText(text: string, key: string | null): unknown {
  if (key === null) return text;
  const json = parse(text);
  if (!isObject(json)) throw new SecretError('not_json', 'the secret is not a JSON object, so it has no keys');
  return ownField(json, key);
}

function fromFields(fields: JsonObject, key: string | null): unknown {
  if (key !== null) return ownField(fields, key);
  const [name, ...others] = Object.keys(fields);
  if (name !== undefined && others.length === 0) return fields[name];
  throw new SecretError('key_missing', `the secret has ${others.length === 0 ? 'no' : 'several'} fields: name one`);
}

/** Own fields only: `constructor` is a field of every object. */
function ownField(fields: JsonObject, key: string): unknown {
  if (!Object.hasOwn(fields, key)) throw new SecretError('key_missing', 'the secret has no such key');
  return fields[key];
}

function toText(value: unknown): string {
  // One line break at the end is left out, since files and terminals add it; no credential has one.
  if (typeof value === 'string') return value.replace(/\r?\n$/, '');
  if (value === null || value === undefined) throw new SecretError('key_missing', 'the value is null');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new SecretError('not_text', 'a number too large to be read digit by digit: keep it as a string');
  }
  // A number, true or false looks the same in JSON.
  return JSON.stringify(value);
}

function toJson(value: unknown): unknown {
  return typeof value === 'string' ? parse(value) : value;
}

/** The parser's own error is dropped: its message quotes the text. */
function parse(text: string): unknown {
  if (isDeeperThan(Buffer.from(text), MAX_JSON_DEPTH))
    throw new SecretError('not_json', 'the value is nested too deeply');
  try {
    return JSON.parse(text);
  } catch {
    throw new SecretError('not_json', 'the value is not JSON');
  }
}
