// What a server sees of an identity is exactly the gateway's value, or nothing: over names, cases, separators, duplicates,
// Connection-listed names, forwarding rules and configured headers.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ForwardHeaders } from '../config/identity-config.js';
import { foldHeaderName } from './header-names.js';
import { outboundHeaders } from './outbound-headers.js';
import { toRawHeaders } from './raw-headers.js';

const OWN_VALUE = 'gateway';
const EVIL_VALUE = 'evil';
const CUSTOM_NAMES = ['X-User-Claims', 'X-User-JWT', 'Authorization', 'X-Who', 'X.Who_Is', 'Remote-User', 'x'];
const CREDENTIALS = ['authorization', 'cookie', 'x-api-key', 'x-gateway-api-key', 'x-portkey-api-key', 'api-key'];

/** A name in some spelling, in any case and with any separator that a header name may have. */
function spelled(names: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.constantFrom(...names),
      fc.infiniteStream(fc.boolean()),
      fc.infiniteStream(fc.constantFrom('-', '-', '_', '.', '~', '!', '+', '|')),
    )
    .map(([name, upper, separators]) =>
      Array.from(name)
        .map((character) => {
          if (/[^A-Za-z0-9]/.test(character)) return separators.next().value;
          return upper.next().value === true ? character.toUpperCase() : character.toLowerCase();
        })
        .join(''),
    );
}

const anyName = fc.oneof(
  { weight: 4, arbitrary: spelled([...CUSTOM_NAMES, ...CREDENTIALS]) },
  { weight: 2, arbitrary: spelled(['x-tenant', 'accept', 'mcp-param-a', 'mcp-name', 'user-agent']) },
  { weight: 1, arbitrary: fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/) },
);
const connection = fc
  .array(anyName, { maxLength: 3 })
  .map((names): readonly [string, string] => ['Connection', names.join(', ')]);
const clientHeader = anyName.map((name): readonly [string, string] => [name, EVIL_VALUE]);
const rule: fc.Arbitrary<ForwardHeaders | undefined> = fc.option(
  fc.record({
    mode: fc.constantFrom<ForwardHeaders['mode']>('all-except', 'allowlist'),
    headers: fc.array(anyName, { maxLength: 4 }),
  }),
  { nil: undefined },
);
const staticHeaders = fc.dictionary(anyName, fc.constant('configured'), { maxKeys: 3 });

const request = fc.record({
  client: fc.array(fc.oneof({ weight: 5, arbitrary: clientHeader }, { weight: 1, arbitrary: connection }), {
    maxLength: 8,
  }),
  forwardHeaders: rule,
  staticHeaders,
  identityHeaderName: fc.constantFrom(...CUSTOM_NAMES),
  hasIdentity: fc.boolean(),
  tokenHeaderName: fc.constantFrom('authorization', 'x-id-token'),
});

/** Headers of which a client has sent two are refused, which is another test. */
function withoutRefused(client: readonly (readonly [string, string])[]): readonly (readonly [string, string])[] {
  const seen = new Set<string>();
  return client.filter(([name]) => {
    const lower = name.toLowerCase();
    if (!['authorization', 'mcp-name'].includes(lower)) return true;
    if (seen.has(lower)) return false;
    seen.add(lower);
    return true;
  });
}

describe('outboundHeaders for any headers of a client', () => {
  it("sends the gateway's identity or none", () => {
    fc.assert(
      fc.property(request, ({ client, hasIdentity, ...input }) => {
        const { identityHeaderName } = input;
        const headers = outboundHeaders({
          ...input,
          client: toRawHeaders(withoutRefused(client).flat()),
          identityHeaders: hasIdentity ? { [identityHeaderName]: OWN_VALUE } : {},
        });
        const seen = [...headers].filter(([name]) => foldHeaderName(name) === foldHeaderName(identityHeaderName));
        expect(seen).toEqual(hasIdentity ? [[identityHeaderName.toLowerCase(), OWN_VALUE]] : []);
        for (const standard of ['x-user-claims', 'x-user-jwt']) {
          const others = [...headers].filter(([name]) => foldHeaderName(name) === standard);
          expect(others.every(([, value]) => value === OWN_VALUE)).toBe(true);
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('forwards no credentials of the client and no connection headers', () => {
    fc.assert(
      fc.property(request, ({ client, hasIdentity: _hasIdentity, ...input }) => {
        const sent = withoutRefused(client);
        const headers = outboundHeaders({ ...input, client: toRawHeaders(sent.flat()) });
        const listed = new Set(
          sent
            .filter(([name]) => name.toLowerCase() === 'connection')
            .flatMap(([, value]) => value.toLowerCase().split(', ')),
        );
        for (const [name, value] of headers) {
          if (value.includes(EVIL_VALUE)) {
            expect(CREDENTIALS).not.toContain(foldHeaderName(name));
            expect(listed.has(name)).toBe(false);
          }
          expect(name).toBe(name.toLowerCase());
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
