import { foldField } from '../../common/json/field-names.js';
import { invalidField } from '../../common/errors/gateway.error.js';
import { walkFields } from '../../common/json/fields.js';
import { JSON_TOKEN } from '../../common/json/scan.js';
import type { InferenceCall, InferenceFacts } from './dialect.types.js';

/** The place of an output cap: a member of the body, or a field of a member that is an object. */
export type CapPath = readonly [member: string, field?: string];

/** A value of the body, with its byte positions. */
interface Found {
  readonly path: CapPath;
  readonly start: number;
  readonly end: number;
}

/**
 * The output cap of a request, in tokens; undefined without one. Ignores the other members of the body.
 * @throws GatewayError `validation_failed`
 */
export function readCapAt(json: Buffer, paths: readonly CapPath[]): number | undefined {
  const caps = find(json, paths).map((found) => numberAt(json, found));
  const there = caps.filter((cap) => cap !== undefined);
  if (there.some((cap) => cap < 1)) return undefined;
  // A name may appear twice, and readers differ in which one applies, so the highest counts.
  return there.length === 0 ? undefined : Math.max(...there);
}

/** Returns the call with another output cap: at all paths that are present, or at the first one when none is. */
export function withCapAt<Facts extends InferenceFacts>(
  call: InferenceCall<Facts>,
  paths: readonly CapPath[],
  cap: number,
): InferenceCall<Facts> {
  const found = find(call.bytes, paths);
  const [first] = paths;
  const bytes =
    found.length > 0 || first === undefined ? replaced(call.bytes, found, cap) : withValue(call.bytes, first, cap);
  return { ...call, bytes, facts: { ...call.facts, outputCap: cap } };
}

function find(json: Buffer, paths: readonly CapPath[]): readonly Found[] {
  const found: Found[] = [];
  walkFields(json, ({ name, member, depth, start, end }) => {
    for (const path of paths) {
      const [outer, inner] = path;
      const isThere =
        inner === undefined
          ? depth === 1 && name === foldField(outer)
          : depth === 2 && member === foldField(outer) && name === foldField(inner);
      if (isThere) found.push({ path, start, end });
    }
  });
  return found;
}

function numberAt(json: Buffer, { path, start, end }: Found): number | undefined {
  const text = json.toString('latin1', start, end).trim();
  if (text === 'null') return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value)) throw invalidField(path.join('.'), 'must be a whole number');
  return value;
}

function replaced(json: Buffer, found: readonly Found[], cap: number): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (const { start, end } of found) {
    parts.push(json.subarray(copied, start), Buffer.from(String(cap)));
    copied = end;
  }
  return Buffer.concat([...parts, json.subarray(copied)]);
}

/** Inserts a value that is absent. */
function withValue(json: Buffer, [outer, inner]: CapPath, cap: number): Buffer {
  if (inner === undefined) return withFirstField(json, json.indexOf(JSON_TOKEN.openBrace), outer, String(cap));
  let at: number | undefined;
  walkFields(json, ({ name, depth, end }) => {
    if (depth === 1 && name === foldField(outer) && json[end] === JSON_TOKEN.openBrace) at = end;
  });
  if (at !== undefined) return withFirstField(json, at, inner, String(cap));
  return withFirstField(json, json.indexOf(JSON_TOKEN.openBrace), outer, JSON.stringify({ [inner]: cap }));
}

function withFirstField(json: Buffer, brace: number, name: string, value: string): Buffer {
  const rest = json.subarray(brace + 1);
  const isEmpty = rest.toString('latin1', 0, 64).trimStart().startsWith('}');
  const field = Buffer.from(`${JSON.stringify(name)}:${value}${isEmpty ? '' : ','}`);
  return Buffer.concat([json.subarray(0, brace + 1), field, rest]);
}
