import { fieldError, throwIfInvalid } from '../errors/gateway.error.js';
import { isSameValue } from '../same-value.js';

const synonymsOf = new WeakMap<object, Readonly<Record<string, string>>>();

/** Other names of fields, as another product's clients send them: `{ note: 'description' }`. Answers have the field's own name. */
export function Synonyms(names: Readonly<Record<string, string>>): ClassDecorator {
  return (target) => void synonymsOf.set(target, names);
}

/**
 * The body with the fields' own names.
 * @throws GatewayError `validation_failed` for a field that has another value under its other name
 */
export function withOwnNames(type: object | undefined, body: object): object {
  const synonyms = type && synonymsOf.get(type);
  if (synonyms === undefined) return body;
  const own = new Map<string, unknown>(Object.entries(body).filter(([name]) => !Object.hasOwn(synonyms, name)));
  for (const [other, name] of Object.entries(synonyms)) {
    if (!Object.hasOwn(body, other)) continue;
    const value: unknown = Reflect.get(body, other);
    const isTwice = own.has(name) && !isSameValue(own.get(name), value);
    throwIfInvalid(isTwice ? [fieldError(other, `is another name of ${name}; send one of them`)] : []);
    own.set(name, value);
  }
  return Object.fromEntries(own);
}
