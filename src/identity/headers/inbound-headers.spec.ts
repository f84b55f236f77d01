import { describe, expect, it } from '@jest/globals';
import { inboundHeaders, type InboundHeadersInput } from './inbound-headers.js';
import { toRawHeaders } from './raw-headers.js';

const METADATA = 'https://mcp.example.com/.well-known/oauth-protected-resource/search/mcp';

function passed(
  server: readonly (readonly [string, string])[],
  input: Omit<InboundHeadersInput, 'server'> = {},
): readonly (readonly [string, string])[] {
  return inboundHeaders({ ...input, server: toRawHeaders(server.flat()) }).map(({ name, value }) => [name, value]);
}

describe('the headers of an answer', () => {
  it('reach the client, duplicates and order kept', () => {
    const headers = [
      ['content-type', 'text/event-stream'],
      ['mcp-session-id', 's'],
      ['mcp-protocol-version', '2025-06-18'],
      ['retry-after', '5'],
      ['cache-control', 'no-cache'],
      ['x-accel-buffering', 'no'],
      ['x-own', '1'],
      ['x-own', '2'],
    ] as const;
    expect(passed(headers)).toEqual(headers);
  });

  it.each([
    'Connection',
    'Transfer-Encoding',
    'Trailer',
    'Upgrade',
    'Keep-Alive',
    'Access-Control-Allow-Origin',
    'Access-Control-Allow-Credentials',
    'Set-Cookie',
    'Clear-Site-Data',
    'Strict-Transport-Security',
    'Location',
    'WWW-Authenticate',
    'X-User-JWT',
    'X_User_Claims',
    'X-Gateway-Trace-Id',
  ])('do not when they would speak for the gateway: %s', (name) => expect(passed([[name, 'x']])).toEqual([]));

  it('do not when the server lists them in Connection, or sends the identity back', () => {
    expect(
      passed(
        [
          ['Connection', 'X-A'],
          ['X-A', '1'],
          ['X-Who', 'jwt'],
        ],
        { identityHeaderName: 'X-Who' },
      ),
    ).toEqual([]);
  });
});

describe('the challenge of a server that judges tokens by itself', () => {
  it.each([
    ['Bearer', `Bearer resource_metadata="${METADATA}"`],
    ['Bearer realm="x"', `Bearer realm="x", resource_metadata="${METADATA}"`],
    [
      'Bearer error="invalid_token", resource_metadata="https://other.example/x", scope="a b"',
      `Bearer error="invalid_token", resource_metadata="${METADATA}", scope="a b"`,
    ],
    ['Bearer resource_metadata="a\\"b", scope="x"', `Bearer resource_metadata="${METADATA}", scope="x"`],
    ['Bearer resource_metadata=bare', `Bearer resource_metadata="${METADATA}"`],
    ['Basic realm="x"', 'Basic realm="x"'],
  ])('names our metadata and keeps the rest: %s', (sent, wanted) => {
    expect(passed([['www-authenticate', sent]], { resourceMetadata: METADATA })).toEqual([
      ['www-authenticate', wanted],
    ]);
  });
});
