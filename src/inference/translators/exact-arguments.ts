import { mayHaveInexactNumbers, parseExactNumbers, withDoublesOutside } from '../../common/json/numbers.js';
import { isObject, type JsonObject, parseForeignJson, withoutByteOrderMark } from '../../common/json/read.js';

/** Members whose objects the translators do not read: the arguments of a call in each dialect, and schemas. */
const PASSED_ON: ReadonlySet<string> = new Set(['input', 'args', 'arguments', 'input_schema', 'parameters', 'schema']);

/**
 * Parses a request, an answer or an event like `parseForeignJson`, but keeps every digit of the numbers in arguments of
 * tools and in schemas. Only `stringifyLongNumbers` and `textOfValue` write such values.
 */
export function parseForTranslation(source: Buffer | string): unknown {
  const value = parseForeignJson(source);
  if (value === undefined || !mayHaveInexactNumbers(source.toString())) return value;
  return withDoublesOutside(exactly(source), PASSED_ON);
}

/** Parses the arguments of a call with every digit of their numbers; undefined unless the text is a JSON object. */
export function argumentsIn(text: string): JsonObject | undefined {
  const value = parseForeignJson(text);
  if (!isObject(value)) return undefined;
  const exact = mayHaveInexactNumbers(text) ? exactly(text) : value;
  return isObject(exact) ? exact : undefined;
}

function exactly(source: Buffer | string): unknown {
  return parseExactNumbers(withoutByteOrderMark(Buffer.from(source)).toString());
}
