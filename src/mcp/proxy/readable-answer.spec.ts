import { describe, expect, it } from '@jest/globals';
import { refusedBody } from './readable-answer.js';

const PAGE = Buffer.from('<html>Log in</html>');

/** What happens to a body: `passes`, or the code of the refusal. */
function verdict(
  status: number,
  type: string | undefined,
  method = 'POST',
  transport: 'streamable_http' | 'sse' = 'streamable_http',
) {
  const headers = type === undefined ? {} : { 'content-type': type };
  const filter = refusedBody({ status, headers }, method, transport);
  if (filter === undefined) return 'passes';
  expect([filter.push(Buffer.alloc(0)).length, filter.end().length]).toEqual([0, 0]);
  try {
    filter.push(PAGE);
  } catch (error) {
    return Object(error).code;
  }
  return 'dropped';
}

describe('the body of an answer that clients cannot read', () => {
  it.each<readonly [string, Parameters<typeof verdict>]>([
    ['a page', [200, 'text/html; charset=utf-8']],
    ['text', [200, 'text/plain']],
    ['no type', [200, undefined]],
    ['a strange type', [201, 'no type "at all"']],
    ['a page on a stream', [200, 'text/html', 'GET']],
    ['a page at the end of a session', [200, 'text/html', 'DELETE']],
    ['JSON on a stream of the older transport', [200, 'application/json', 'GET', 'sse']],
    ['a page for a message of the older transport', [200, 'text/html', 'POST', 'sse']],
  ])('refuses %s', (_what, answer) => {
    expect(verdict(...answer)).toBe('provider_invalid_response');
  });

  it.each<readonly [string, Parameters<typeof verdict>]>([
    ['JSON', [200, 'application/json; charset=utf-8']],
    ['JSON by another name', [200, 'Application/JSON-RPC']],
    ['a profile of JSON', [200, 'application/vnd.x+json']],
    ['an event stream', [200, 'text/event-stream', 'GET']],
    ['text that accepts a message', [202, 'text/plain']],
    ['the page of an error', [500, 'text/html']],
    ['text for a message of the older transport', [202, 'text/plain', 'POST', 'sse']],
    ['the stream of the older transport', [200, 'text/event-stream', 'GET', 'sse']],
  ])('passes %s', (_what, answer) => {
    expect(verdict(...answer)).toBe('passes');
  });
});
