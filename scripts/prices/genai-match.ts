import { readArray, readObject, readString, UnexpectedShapeError } from '../../src/common/json/read.js';

type Fits = (name: string) => boolean;

const SIMPLE: ReadonlyMap<string, (text: string) => Fits> = new Map<string, (text: string) => Fits>([
  ['equals', (text) => (name) => name === text.toLowerCase()],
  ['starts_with', (text) => (name) => name.startsWith(text.toLowerCase())],
  ['ends_with', (text) => (name) => name.endsWith(text.toLowerCase())],
  ['contains', (text) => (name) => name.includes(text.toLowerCase())],
  ['regex', (text) => (name) => new RegExp(text).test(name)],
]);

/**
 * By which names genai-prices knows a model: `{"or": [{"equals": "gpt-5"}, {"starts_with": "gpt-5-2025"}]}`. Names are given in
 * lower case.
 * @throws UnexpectedShapeError
 */
export function readMatch(match: unknown, path: string): Fits {
  const rule = Object.entries(readObject(match, path));
  const [kind, value] = rule[0] ?? [];
  if (rule.length !== 1 || kind === undefined) throw new UnexpectedShapeError('one rule', path);
  if (kind === 'or' || kind === 'and') {
    const parts = readArray(value, path).map((part) => readMatch(part, path));
    return kind === 'or' ? (name) => parts.some((fits) => fits(name)) : (name) => parts.every((fits) => fits(name));
  }
  const make = SIMPLE.get(kind);
  if (make === undefined) throw new UnexpectedShapeError('a known rule', path);
  return make(readString(value, path));
}
