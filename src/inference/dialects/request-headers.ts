import type { IncomingHttpHeaders } from 'node:http';

const MAX_HEADERS = 32;
const MAX_HEADER = 4_096;

/** Selects the caller's headers that the provider receives, by name. Long or surplus ones are dropped. */
export function passRequestHeaders(headers: IncomingHttpHeaders, names: RegExp): Readonly<Record<string, string>> {
  const passed: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const isPassed = typeof value === 'string' && value.length <= MAX_HEADER && names.test(name);
    if (isPassed && passed.length < MAX_HEADERS) passed.push([name, value]);
  }
  return Object.fromEntries(passed);
}
