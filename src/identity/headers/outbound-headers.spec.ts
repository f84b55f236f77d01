import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { ForwardHeaders } from '../config/identity-config.js';
import { outboundHeaders, type OutboundHeadersInput } from './outbound-headers.js';
import { toRawHeaders } from './raw-headers.js';

const ALL = { mode: 'all-except', headers: [] } as const;
const CLAIMS = '{"sub":"u-1"}';

/** Of a request that a client sends with the named headers. */
function built(
  client: readonly (readonly [string, string])[],
  input: Omit<OutboundHeadersInput, 'client'> = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(outboundHeaders({ ...input, client: toRawHeaders(client.flat()) }));
}

describe('outboundHeaders: headers of the client', () => {
  const PROTOCOL = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'content-length': '42',
    'mcp-protocol-version': '2025-06-18',
    'last-event-id': '17',
    'mcp-method': 'tools/call',
    'mcp-name': 'search',
    'mcp-param-Tenant_Id': 'acme',
  };

  it.each([undefined, ALL, { mode: 'allowlist', headers: [] } as const])(
    'forwards protocol headers under every rule: %j',
    (forwardHeaders) => {
      const lowered = Object.fromEntries(Object.entries(PROTOCOL).map(([name, value]) => [name.toLowerCase(), value]));
      expect(built(Object.entries(PROTOCOL), { forwardHeaders })).toEqual(lowered);
    },
  );

  it('forwards no other headers without a rule', () => {
    expect(
      built([
        ['X-Tenant', 'acme'],
        ['User-Agent', 'client'],
        ['Accept-Encoding', 'gzip'],
      ]),
    ).toEqual({});
  });

  it('forwards all headers but the named ones', () => {
    const rule = { mode: 'all-except', headers: ['X-Secret', 'user_agent'] } as const;
    const headers = built(
      [
        ['X-Tenant', 'acme'],
        ['x-secret', 's'],
        ['User-Agent', 'client'],
      ],
      { forwardHeaders: rule },
    );
    expect(headers).toEqual({ 'x-tenant': 'acme' });
  });

  it('forwards named headers', () => {
    const rule = { mode: 'allowlist', headers: ['X-Tenant'] } as const;
    expect(
      built(
        [
          ['x-tenant', 'acme'],
          ['x-other', 'o'],
        ],
        { forwardHeaders: rule },
      ),
    ).toEqual({ 'x-tenant': 'acme' });
  });

  it('joins repeated headers into one list', () => {
    expect(
      built(
        [
          ['X-A', '1'],
          ['x-a', '2'],
        ],
        { forwardHeaders: ALL },
      ),
    ).toEqual({ 'x-a': '1, 2' });
  });

  it.each([
    'Authorization',
    'Cookie',
    'Proxy-Authorization',
    'X-Api-Key',
    'Api-Key',
    'X-Auth-Token',
    'X-Access-Token',
    'X-Gateway-Api-Key',
    'X-Gateway-Virtual-Key',
    'X-Portkey-Api-Key',
    'X-Forwarded-User',
    'X-Forwarded-For',
    'Remote-Groups',
    'X-Auth-Request-User',
    'X_Auth_Request_Email',
    'Cf-Access-Jwt-Assertion',
    'X-Amzn-Oidc-Data',
    'X-Goog-Authenticated-User-Email',
    'X-MS-CLIENT-PRINCIPAL',
    'X-Webauth-User',
    'Forwarded',
    'Origin',
    'Host',
    'Connection',
    'Keep-Alive',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
    'X-User-Claims',
    'X-User-JWT',
  ])('never forwards credentials, identity or connection headers: %s', (name) => {
    expect(built([[name, 'x']], { forwardHeaders: ALL })).toEqual({});
    expect(built([[name, 'x']], { forwardHeaders: { mode: 'allowlist', headers: [name] } })).toEqual({});
  });

  it.each([
    'X_User_Claims',
    'X.User.Claims',
    'x-user_jwt',
    'X_Tenant',
    'x.tenant',
    'x~tenant',
    'x!y',
    'MCP_SESSION_ID',
  ])('does not forward names that some servers read as other names: %s', (name) =>
    expect(built([[name, 'x']], { forwardHeaders: ALL })).toEqual({}),
  );

  it('does not forward headers that Connection lists', () => {
    const headers = built(
      [
        ['Connection', 'keep-alive, X-Once'],
        ['connection', 'X-Twice'],
        ['X-Once', '1'],
        ['X-Twice', '2'],
        ['X-Stays', '3'],
      ],
      { forwardHeaders: ALL },
    );
    expect(headers).toEqual({ 'x-stays': '3' });
  });

  it('does not forward the header of user tokens', () => {
    expect(built([['X-Id-Token', 'eyJ']], { forwardHeaders: ALL, tokenHeaderName: 'x-id-token' })).toEqual({});
  });

  it("replaces the client's session id with the server's", () => {
    expect(built([['Mcp-Session-Id', 'bound']], { forwardHeaders: ALL })).toEqual({});
    expect(built([['Mcp-Session-Id', 'bound']], { sessionId: 'own' })).toEqual({ 'mcp-session-id': 'own' });
  });

  it.each([
    'Mcp-Session-Id',
    'Authorization',
    'Origin',
    'Content-Type',
    'Content-Length',
    'Host',
    'MCP-Protocol-Version',
    'Last-Event-ID',
    'Mcp-Method',
    'Mcp-Name',
  ])('refuses a header that must not be sent twice: %s', (name) => {
    let refusal: unknown;
    try {
      built([
        [name, 'a'],
        [name.toUpperCase(), 'a'],
      ]);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(GatewayError);
    expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: name.toLowerCase() });
  });
});

describe('outboundHeaders: configured headers of the server', () => {
  it("replaces the client's headers by the configured ones of the server, in any spelling", () => {
    const headers = built(
      [
        ['X-Tenant', 'evil'],
        ['Accept', 'text/html'],
      ],
      {
        forwardHeaders: ALL,
        staticHeaders: { 'X-TENANT': 'acme', Authorization: 'Bearer server-key' },
      },
    );
    expect(headers).toEqual({ accept: 'text/html', 'x-tenant': 'acme', authorization: 'Bearer server-key' });
    expect(built([['x-tenant', 'evil']], { forwardHeaders: ALL, staticHeaders: { X_Tenant: 'acme' } })).toEqual({
      x_tenant: 'acme',
    });
  });

  it.each(['X-User-Claims', 'x_user_jwt', 'Connection', 'Host', 'Content-Length', 'Mcp-Session-Id', 'no name'])(
    'ignores a configured header that the configuration should have refused: %s',
    (name) => expect(built([], { staticHeaders: { [name]: 'x' } })).toEqual({}),
  );

  it('sends no configured header instead of a missing identity', () => {
    const headers = built([['Authorization', 'Bearer client']], {
      identityHeaderName: 'Authorization',
      staticHeaders: { authorization: 'Bearer server-key' },
    });
    expect(headers).toEqual({});
  });
});

describe('outboundHeaders: trace context', () => {
  const CLIENT: readonly (readonly [string, string])[] = [
    ['Traceparent', '00-client'],
    ['Tracestate', 'client=1'],
  ];
  const OWN = { traceparent: '00-gateway', tracestate: 'client=1' };
  const allowing = (...headers: readonly string[]): ForwardHeaders => ({ mode: 'allowlist', headers });

  it.each([
    ['all headers are allowed', ALL, OWN],
    ['both headers are allowed', allowing('traceparent', 'TraceState'), OWN],
    ['only traceparent is allowed', allowing('traceparent'), { traceparent: '00-gateway' }],
    ['only tracestate is allowed', allowing('tracestate'), {}],
    ['only other headers are allowed', allowing('x-other'), {}],
    ['no header is allowed', undefined, {}],
  ])("replaces the client's trace context when %s", (_what, forwardHeaders, expected) => {
    expect(built(CLIENT, { forwardHeaders, traceContext: OWN })).toEqual(expected);
    expect(built([], { forwardHeaders, traceContext: OWN })).toEqual(expected);
  });

  it("drops the client's tracestate when the gateway has none", () => {
    const traceContext = { traceparent: '00-gateway' };
    expect(built(CLIENT, { forwardHeaders: ALL, traceContext })).toEqual(traceContext);
  });

  it("forwards the client's trace context when the gateway has none", () => {
    expect(built(CLIENT, { forwardHeaders: ALL })).toEqual({ traceparent: '00-client', tracestate: 'client=1' });
  });
});

describe('outboundHeaders: identity', () => {
  it('sends the identity instead of any other header of its name', () => {
    const headers = built(
      [
        ['X-Who', 'evil'],
        ['X_Who', 'evil'],
      ],
      {
        forwardHeaders: ALL,
        staticHeaders: { 'x-who': 'config' },
        gatewayHeaders: { 'x-who': 'gateway', traceparent: '00-1' },
        identityHeaderName: 'X-Who',
        identityHeaders: { 'X-Who': CLAIMS },
      },
    );
    expect(headers).toEqual({ traceparent: '00-1', 'x-who': CLAIMS });
  });

  it('replaces configured and client headers by those of the gateway, in any spelling', () => {
    const gatewayHeaders = { 'x-zone': 'gateway', 'mcp-param-zone-id': 'gateway' };
    expect(built([], { staticHeaders: { X_Zone: 'config' }, gatewayHeaders })).toEqual(gatewayHeaders);
    expect(built([['Mcp-Param-Zone_Id', 'client']], { gatewayHeaders })).toEqual(gatewayHeaders);
  });

  it('sends the identity although the client names its header in Connection', () => {
    const headers = built(
      [
        ['Connection', 'X-User-Claims, close'],
        ['X-User-Claims', 'evil'],
      ],
      { identityHeaderName: 'X-User-Claims', identityHeaders: { 'X-User-Claims': CLAIMS } },
    );
    expect(headers).toEqual({ 'x-user-claims': CLAIMS });
  });

  it("drops a client's header with the name of the identity header, in any spelling", () => {
    for (const name of ['X-Who', 'x-who', 'X_WHO', 'x.who']) {
      expect(built([[name, 'evil']], { forwardHeaders: ALL, identityHeaderName: 'X.Who' })).toEqual({});
    }
  });
});
