import type { IncomingHttpHeaders } from 'node:http';

const MAX_HEADERS = 32;
const MAX_HEADER = 4_096;

/** The headers of the caller that its provider gets, by their names. */
export function passRequestHeaders(headers: IncomingHttpHeaders, names: RegExp): Readonly<Record<string, string>> {
  const passed: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const isPassed = typeof value === 'string' && value.length <= MAX_HEADER && names.test(name);
    if (isPassed && passed.length < MAX_HEADERS) passed.push([name, value]);
  }
  return Object.fromEntries(passed);
}
