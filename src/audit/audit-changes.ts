import { createHash } from 'node:crypto';
import { isObject } from '../common/json/read.js';
import { isSameValue } from '../common/same-value.js';
import { originOf } from '../common/http/origin.js';

/** `changed`: a secret, whose values are not kept. */
export type AuditChange = 'changed' | { readonly old: unknown; readonly new: unknown };
export type AuditChanges = Readonly<Record<string, AuditChange>>;

/** A resource before and after a change, as responses show it, with a `secretMark` in place of each secret. */
export interface Snapshots {
  readonly before?: object;
  readonly after?: object;
}

/** What identifies a resource, and what the gateway writes itself. */
const LEFT_OUT = new Set([
  'id',
  'object',
  'organisation_id',
  'created_at',
  'updated_at',
  'next_reset_at',
  'last_used_at',
  'last_resolved_at',
  'last_error',
  'mcp_url',
]);
const MAX_FIELDS = 200;
/** Longer values are named by their length. */
const MAX_CHARACTERS = 2_048;

const MARK = '\u0000secret ';

/** Stands for a secret while two snapshots are compared. It is never stored. */
export function secretMark(secret: string): string {
  return MARK + createHash('sha256').update(secret).digest('base64url');
}

/** An address in parts. Its path or its query may hold a token, as those of incoming webhooks of a chat do. */
export function addressMark(url: string): { readonly origin: string; readonly path: string } {
  return { origin: originOf(url) ?? '', path: secretMark(url) };
}

/** The fields that differ, each by its path: `name`, `config.base_url`. Fields without a value are like absent ones. */
export function changesBetween({ before = {}, after = {} }: Snapshots): AuditChanges {
  const [old, now] = [valuesOf(before), valuesOf(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])];
  const different = paths.filter((path) => !isSameValue(old.get(path), now.get(path)));
  return Object.fromEntries(different.slice(0, MAX_FIELDS).map((path) => [path, change(old.get(path), now.get(path))]));
}

function valuesOf(resource: object): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  const visit = (value: unknown, path: string): void => {
    if (isObject(value)) return Object.entries(value).forEach(([name, part]) => visit(part, `${path}.${name}`));
    const isEmpty = value === undefined || value === null || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) values.set(path, value);
  };
  for (const [name, value] of Object.entries(resource)) if (!LEFT_OUT.has(name)) visit(value, name);
  return values;
}

function change(old: unknown, now: unknown): AuditChange {
  return isSecret(old) || isSecret(now) ? 'changed' : { old: shown(old), new: shown(now) };
}

function isSecret(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(MARK);
}

function shown(value: unknown): unknown {
  const { length } = JSON.stringify(value ?? null);
  return length > MAX_CHARACTERS ? `(${length} characters)` : (value ?? null);
}
