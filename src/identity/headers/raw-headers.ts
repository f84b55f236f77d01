import { invalidField } from '../../common/errors/gateway.error.js';
import { SINGLE_HEADERS } from './header-names.js';

/** A header as the client sent it. */
export interface RawHeader {
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

/** From Node's `rawHeaders` (name and value in turn). Unlike in `headers`, nothing is joined or dropped. */
export function toRawHeaders(flat: readonly string[]): readonly RawHeader[] {
  const headers: RawHeader[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    headers.push({ name: (flat[at] ?? '').toLowerCase(), value: flat[at + 1] ?? '' });
  }
  return headers;
}

/**
 * Call it before a header is read: with two session ids or two credentials, different readers could use different ones.
 * @throws GatewayError `validation_failed` that names the header
 */
export function assertSingleHeaders(headers: readonly RawHeader[], more: readonly string[] = []): void {
  // An array, since there are only about a dozen such names.
  const seen: string[] = [];
  for (const { name } of headers) {
    if (!SINGLE_HEADERS.has(name) && !more.includes(name)) continue;
    if (seen.includes(name)) throw invalidField(name, 'must not be sent more than once');
    seen.push(name);
  }
}

/** Value of a header; the first one if there are several. */
export function headerValue(headers: readonly RawHeader[], name: string): string | undefined {
  for (const header of headers) if (header.name === name) return header.value;
  return undefined;
}

/** Every value of a header. Node's own `headers` keep only the first of some, and join others. */
export function headerValues(headers: readonly RawHeader[], name: string): readonly string[] {
  const values: string[] = [];
  for (const header of headers) if (header.name === name) values.push(header.value);
  return values;
}

/** Names that `Connection` lists, in lower case: headers of this one connection (RFC 9110, section 7.6.1). */
export function connectionOptions(headers: readonly RawHeader[]): ReadonlySet<string> {
  const options = new Set<string>();
  for (const { name, value } of headers) {
    if (name !== 'connection') continue;
    for (const option of value.split(',')) options.add(option.trim().toLowerCase());
  }
  return options;
}
