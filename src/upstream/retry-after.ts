// Retry-After is a number of seconds or an HTTP-date (RFC 9110, 10.2.3). Of the three date formats only the one that
import { type UpstreamHeaders, firstHeader } from './upstream.types.js';

// may be generated today is read. `retry-after-ms` is the finer form that OpenAI and Azure OpenAI send beside it.
import { DO_NOT_RETRY } from '../common/errors/gateway.error.js';
const SECONDS = /^\d+$/;
const MILLISECONDS = /^\d+(?:\.\d+)?$/;
/** More counts as this much, as an age does for caches (RFC 9111, 1.2.2): clients can read it, whatever they count in. */
const MAX_SECONDS = 2 ** 31 - 1;
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Whether the server says that another try is of no use, as OpenAI does of a quota that is used up. */
export function forbidsRetry(headers: UpstreamHeaders): boolean {
  return firstHeader(headers, 'x-should-retry') === DO_NOT_RETRY['x-should-retry'];
}

/** The header when it is well-formed, and so fit to be passed on, or what its finer form comes to; else undefined. */
export function readRetryAfter(headers: UpstreamHeaders): string | undefined {
  const value = firstHeader(headers, 'retry-after')?.trim();
  if (value === undefined) {
    const milliseconds = readRetryAfterMs(headers);
    return milliseconds === undefined ? undefined : String(Math.ceil(milliseconds / 1_000));
  }
  if (SECONDS.test(value)) return String(Math.min(Number(value), MAX_SECONDS));
  return isHttpDate(value) ? value : undefined;
}

/** The finer form, when it is well-formed. */
export function readRetryAfterMs(headers: UpstreamHeaders): number | undefined {
  const value = firstHeader(headers, 'retry-after-ms')?.trim();
  if (value === undefined || !MILLISECONDS.test(value)) return undefined;
  return Math.min(Number(value), MAX_SECONDS * 1_000);
}

/** How long the server asks to wait, in milliseconds from `nowMs`; 0 for a date in the past; undefined when it does not ask. */
export function retryAfterMs(headers: UpstreamHeaders, nowMs: number): number | undefined {
  const milliseconds = readRetryAfterMs(headers);
  if (milliseconds !== undefined) return milliseconds;
  const value = readRetryAfter(headers);
  if (value === undefined) return undefined;
  return SECONDS.test(value) ? Number(value) * 1_000 : Math.max(0, Date.parse(value) - nowMs);
}

function isHttpDate(value: string): boolean {
  return HTTP_DATE.test(value) && !Number.isNaN(Date.parse(value));
}
