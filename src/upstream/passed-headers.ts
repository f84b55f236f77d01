import { firstHeader, type UpstreamHeaders } from './upstream.types.js';

/** What a provider says about its limits and about the handling of a request. */
const PASSED = /^(?:x-ratelimit-|openai-|anthropic-|request-id$)/;
const TEXT = /^[\x20-\x7e]{1,256}$/;
/** How long SDKs wait between two polls: they would not understand anything else. */
const POLL_AFTER = 'openai-poll-after-ms';
const MILLISECONDS = /^\d{1,9}$/;
const MAX_HEADERS = 32;

/** The headers of a provider's answer that its caller gets too. */
export function passedHeaders(headers: UpstreamHeaders): Readonly<Record<string, string>> {
  const passed: [string, string][] = [];
  for (const name of Object.keys(headers)) {
    const value = PASSED.test(name) ? firstHeader(headers, name) : undefined;
    const form = name === POLL_AFTER ? MILLISECONDS : TEXT;
    if (value !== undefined && form.test(value) && passed.length < MAX_HEADERS) passed.push([name, value]);
  }
  return Object.fromEntries(passed);
}
