import { describe, expect, it } from '@jest/globals';
import type { BodyFilter } from '../../upstream/upstream.types.js';
import { filterChain } from './filter-chain.js';
import { type AnsweredRequest, checkedStart, refusedBody } from './readable-answer.js';

const PAGE = '<html>Log in</html>';
const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const REQUEST: AnsweredRequest = { method: 'POST', transport: 'streamable_http', expectsAnswer: true };
const NOTIFICATION: AnsweredRequest = { ...REQUEST, expectsAnswer: false };
const STREAM: AnsweredRequest = { ...NOTIFICATION, method: 'GET' };
const END: AnsweredRequest = { ...NOTIFICATION, method: 'DELETE' };
const OLD_STREAM: AnsweredRequest = { ...STREAM, transport: 'sse' };
const OLD_MESSAGE: AnsweredRequest = { ...REQUEST, transport: 'sse' };

type Answer = readonly [status: number, type: string | undefined, body: string, request?: AnsweredRequest];

/** What happens to a body, in one piece and byte by byte: `passes`, or the code of the refusal. */
function verdictOf([status, type, body, request = REQUEST]: Answer): string {
  const head = { status, headers: type === undefined ? {} : { 'content-type': type } };
  const bytes = Buffer.from(body);
  const verdicts = [[bytes], [...bytes].map((byte) => Buffer.from([byte]))].map((pieces) =>
    read(filterChain(refusedBody(head, request), checkedStart(head, request)), pieces),
  );
  expect(verdicts[0]).toBe(verdicts[1]);
  return verdicts[0] ?? '';
}

function read(filter: BodyFilter | undefined, pieces: readonly Buffer[]): string {
  if (filter === undefined) return 'passes';
  try {
    const passed = [Buffer.alloc(0), ...pieces].map((piece) => filter.push(piece));
    expect(Buffer.concat([...passed, filter.end()])).toEqual(Buffer.concat(pieces));
  } catch (error) {
    return String(Object(error).code);
  }
  return 'passes';
}

describe('the body of an answer that clients cannot read', () => {
  it.each<readonly [string, Answer]>([
    ['a page', [200, 'text/html; charset=utf-8', PAGE]],
    ['text', [200, 'text/plain', 'ok']],
    ['a body without a type', [200, undefined, '{}']],
    ['a body of a strange type', [201, 'no type "at all"', '{}']],
    ['a page on a stream', [200, 'text/html', PAGE, STREAM]],
    ['a page at the end of a session', [200, 'text/html', PAGE, END]],
    ['JSON on a stream of the older transport', [200, JSON_TYPE, '{}', OLD_STREAM]],
    ['a page for a message of the older transport', [200, 'text/html', PAGE, OLD_MESSAGE]],
  ])('refuses %s', (_what, answer) => {
    expect(verdictOf(answer)).toBe('provider_invalid_response');
  });

  it.each([
    [REQUEST, JSON_TYPE, 200, 'provider_invalid_response'],
    [REQUEST, STREAM_TYPE, 206, 'provider_invalid_response'],
    [STREAM, STREAM_TYPE, 200, 'provider_invalid_response'],
    [OLD_STREAM, STREAM_TYPE, 200, 'provider_invalid_response'],
    // Clients read only the status of these.
    [OLD_MESSAGE, JSON_TYPE, 200, 'passes'],
    [NOTIFICATION, JSON_TYPE, 202, 'passes'],
    [REQUEST, JSON_TYPE, 404, 'passes'],
  ])(
    'refuses a body in an unknown coding, unless clients do not read it: %j, %s, %i',
    (request, type, status, verdict) => {
      const head = { status, headers: { 'content-type': type, 'content-encoding': 'x-own' } };
      expect(read(filterChain(refusedBody(head, request), checkedStart(head, request)), [Buffer.from('{}')])).toBe(
        verdict,
      );
    },
  );

  it.each<readonly [string, Answer]>([
    ['a page as JSON', [200, JSON_TYPE, PAGE]],
    ['a page after blank lines as JSON', [200, JSON_TYPE, ` \r\n\t\u{feff}\n${PAGE}`]],
    ['text as JSON', [200, 'application/json-rpc', 'Log in first']],
    ['a bare value as JSON', [200, JSON_TYPE, '"log in"']],
    ['a page as JSON for a notification', [200, JSON_TYPE, PAGE, NOTIFICATION]],
    ['a page as JSON at the end of a session', [200, JSON_TYPE, PAGE, END]],
    ['a page as an event stream', [200, STREAM_TYPE, PAGE]],
    ['a page as a stream', [200, STREAM_TYPE, `\n${PAGE}`, STREAM]],
    ['JSON as an event stream', [200, STREAM_TYPE, '{"jsonrpc":"2.0"}']],
    ['a page as the stream of the older transport', [200, STREAM_TYPE, PAGE, OLD_STREAM]],
    ['a page as JSON for a message of the older transport', [200, JSON_TYPE, PAGE, OLD_MESSAGE]],
    ['no JSON for a request', [200, JSON_TYPE, '']],
    ['spaces for a request', [200, JSON_TYPE, ' \n']],
    ['no body and no type for a request', [200, undefined, '']],
    ['no events for a request', [200, STREAM_TYPE, '']],
  ])('refuses %s', (_what, answer) => {
    expect(verdictOf(answer)).toBe('provider_invalid_response');
  });

  it.each<readonly [string, Answer]>([
    ['JSON', [200, 'application/json; charset=utf-8', '{}']],
    ['a batch after spaces', [200, JSON_TYPE, '\r\n [{}]']],
    ['JSON after a byte order mark', [200, JSON_TYPE, '\u{feff}{}']],
    ['JSON by another name', [200, 'Application/JSON-RPC', '{}']],
    ['a profile of JSON', [200, 'application/vnd.x+json', '{}']],
    ['an event stream', [200, STREAM_TYPE, 'data: {}\n\n', STREAM]],
    ['a comment of an event stream', [200, STREAM_TYPE, '\n: ping\n\n']],
    ['a stream without events', [200, STREAM_TYPE, '', STREAM]],
    ['text that accepts a message', [202, 'text/plain', 'Accepted']],
    ['no body for a notification', [200, JSON_TYPE, '', NOTIFICATION]],
    ['a bare value for a notification', [200, JSON_TYPE, 'null', NOTIFICATION]],
    ['no body at the end of a session', [200, undefined, '', END]],
    ['the page of an error', [500, 'text/html', PAGE]],
    ['the page of an error as JSON', [404, JSON_TYPE, PAGE]],
    ['text for a message of the older transport', [202, 'text/plain', 'Accepted', OLD_MESSAGE]],
    ['no body for a message of the older transport', [200, undefined, '', OLD_MESSAGE]],
    ['the stream of the older transport', [200, STREAM_TYPE, 'event: endpoint\n', OLD_STREAM]],
  ])('passes %s', (_what, answer) => {
    expect(verdictOf(answer)).toBe('passes');
  });
});
