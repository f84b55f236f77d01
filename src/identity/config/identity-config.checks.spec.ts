import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { assertIdentityFields, type CheckContext } from './identity-config.checks.js';
import { type IdentityFields, identityHeaderName } from './identity-config.js';
import { ForwardHeadersDto } from './forward-headers.dto.js';
import { JwtValidationDto } from './jwt-validation.dto.js';
import { toJwtValidation } from './to-jwt-validation.js';
import { UserIdentityForwardingDto } from './user-identity-forwarding.dto.js';

const CONTEXT: CheckContext = { egress: new EgressPolicy([]), canSign: true };
const VALIDATION = { jwksUri: 'https://login.example.com/keys' };
const INTROSPECTION = { endpoint: 'https://login.example.com/introspect', client_id: 'a', client_secret: 'b' };

function paramsOf(fields: IdentityFields, context: Partial<CheckContext> = {}): readonly (string | null)[] {
  try {
    assertIdentityFields(fields, { ...CONTEXT, ...context });
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return (error.details ?? []).map(({ param }) => param);
  }
}

type Dto = typeof UserIdentityForwardingDto | typeof JwtValidationDto | typeof ForwardHeadersDto;

/** Fields whose own rules are broken. */
function brokenIn(dto: Dto, value: object): readonly string[] {
  const instance: object = plainToInstance<object, object>(dto, value);
  return validateSync(instance, { whitelist: true, forbidNonWhitelisted: true }).map(({ property }) => property);
}

describe('user_identity_forwarding', () => {
  it.each([
    { method: 'claims_header' },
    { method: 'jwt_header', jwt_expiry_seconds: 1, audience: 'urn:s', header_name: 'X-Who', include_claims: ['sub'] },
    { method: 'bearer', header_name: 'Authorization' },
    { method: 'jwt_header', jwt_expiry_seconds: 86_400 },
  ])('accepts the user_identity_forwarding %j', (value) =>
    expect(brokenIn(UserIdentityForwardingDto, value)).toEqual([]),
  );

  it.each<readonly [string, object]>([
    ['method', {}],
    ['method', { method: 'plain' }],
    ['include_claims', { include_claims: [] }],
    ['include_claims', { include_claims: ['sub', 'sub'] }],
    ['include_claims', { include_claims: [''] }],
    ['include_claims', { include_claims: 'sub' }],
    ['include_claims', { include_claims: null }],
    ['header_name', { header_name: '' }],
    ['jwt_expiry_seconds', { jwt_expiry_seconds: 0 }],
    ['jwt_expiry_seconds', { jwt_expiry_seconds: 86_401 }],
    ['jwt_expiry_seconds', { jwt_expiry_seconds: 1.5 }],
    ['jwt_expiry_seconds', { jwt_expiry_seconds: '300' }],
    ['colour', { colour: 'red' }],
  ])('refuses user_identity_forwarding because of %s: %j', (field, change) => {
    const value = field === 'method' ? change : { method: 'jwt_header', ...change };
    expect(brokenIn(UserIdentityForwardingDto, value)).toEqual([field]);
  });

  it.each([
    'Connection',
    'keep-alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Host',
    'Cookie',
    'Set-Cookie',
    'Content-Length',
    'Content_Type',
    'content-encoding',
    'Mcp-Session-Id',
    'mcp-anything',
    'MCP_Session_Id',
    'Accept',
    'Origin',
    'Authorization',
    'authorization',
    'Proxy-Authorization',
    'X-User-JWT',
    'X User',
    'X-User:',
    'X-Üser',
    'X\r\nY',
    'X-Gateway-User',
    'x_portkey_who',
    'traceparent',
    'Accept-Encoding',
    'X-Request-Id',
    'x_request_id',
    'X-Correlation-ID',
    'X-B3-TraceId',
    'X-Should-Retry',
    'Retry-After',
    'Access-Control-Allow-Origin',
  ])('refuses the identity header name %j', (header_name) => {
    const fields: IdentityFields = { user_identity_forwarding: { method: 'claims_header', header_name } };
    expect(paramsOf(fields)).toEqual(['user_identity_forwarding.header_name']);
  });

  it.each(['X-Who', 'x-user-claims', 'X_Who', 'Remote-User'])('accepts the identity header name %s', (header_name) => {
    expect(paramsOf({ user_identity_forwarding: { method: 'claims_header', header_name } })).toEqual([]);
  });

  it('has a default identity header for each forwarding method', () => {
    expect(['claims_header', 'bearer', 'jwt_header'].map((method) => identityHeaderName(Object({ method })))).toEqual([
      'X-User-Claims',
      'Authorization',
      'X-User-JWT',
    ]);
  });

  it('requires jwt_validation for the method bearer, and refuses include_claims with it', () => {
    expect(paramsOf({ user_identity_forwarding: { method: 'bearer' } })).toEqual(['user_identity_forwarding.method']);
    expect(paramsOf({ user_identity_forwarding: { method: 'bearer' }, jwt_validation: VALIDATION })).toEqual([]);
    const chosen = { method: 'bearer', include_claims: ['sub'] } as const;
    expect(paramsOf({ user_identity_forwarding: chosen, jwt_validation: VALIDATION })).toEqual([
      'user_identity_forwarding.include_claims',
    ]);
  });

  it.each([{}, { issuer: 'company' }, { issuer: 'javascript:alert(1)' }])(
    'advertises no issuer but an address: %j',
    (fields) => {
      const validation = { ...VALIDATION, advertise_issuer: true };
      expect(paramsOf({ jwt_validation: { ...validation, issuer: undefined, ...fields } })).toEqual([
        'jwt_validation.advertise_issuer',
      ]);
      expect(paramsOf({ jwt_validation: { ...validation, issuer: 'https://login.example.com' } })).toEqual([]);
    },
  );

  it('requires JWT_PRIVATE_KEY for the method jwt_header', () => {
    const fields: IdentityFields = { user_identity_forwarding: { method: 'jwt_header' } };
    expect(paramsOf(fields)).toEqual([]);
    expect(paramsOf(fields, { canSign: false })).toEqual(['user_identity_forwarding.method']);
  });

  it('accepts an expiry and an audience only for the method jwt_header', () => {
    const fields = { method: 'claims_header', jwt_expiry_seconds: 60, audience: 'x' } as const;
    expect(paramsOf({ user_identity_forwarding: fields })).toEqual([
      'user_identity_forwarding.jwt_expiry_seconds',
      'user_identity_forwarding.audience',
    ]);
  });
});

describe('jwt_validation', () => {
  it('accepts both spellings of jwt_validation', () => {
    const one = { jwksUri: 'https://a.example/k', requiredClaims: ['sub'] };
    const other = { jwks_uri: 'https://a.example/k', required_claims: ['sub'] };
    for (const value of [one, other]) {
      expect(brokenIn(JwtValidationDto, value)).toEqual([]);
      expect(toJwtValidation(value)).toMatchObject({ jwksUri: 'https://a.example/k', requiredClaims: ['sub'] });
    }
    expect(paramsOf({ jwt_validation: { ...one, ...other } })).toEqual([
      'jwt_validation.jwks_uri',
      'jwt_validation.required_claims',
    ]);
  });

  it('fills in the defaults of jwt_validation', () => {
    expect(toJwtValidation(VALIDATION)).toEqual({
      jwksUri: VALIDATION.jwksUri,
      introspection: undefined,
      requiredClaims: [],
      claimValues: {},
      issuer: undefined,
      audience: undefined,
      algorithms: ['RS256'],
      clockToleranceSeconds: 5,
      headerKey: 'authorization',
      isRequired: false,
      isAdvertised: false,
    });
  });

  it('accepts all options of jwt_validation', () => {
    const value = {
      ...VALIDATION,
      issuer: 'https://login.example.com',
      audience: 'api',
      algorithms: ['ES256', 'EdDSA', 'Ed25519'],
      clock_tolerance_seconds: 60,
      header_key: 'X-Id-Token',
      claim_values: { groups: ['a', 'b'], tier: 'gold' },
      introspection: { ...INTROSPECTION, cache_seconds: 0 },
    };
    expect(brokenIn(JwtValidationDto, value)).toEqual([]);
    expect(toJwtValidation(plainToInstance(JwtValidationDto, value))).toMatchObject({
      audience: ['api'],
      headerKey: 'x-id-token',
      claimValues: { groups: ['a', 'b'], tier: ['gold'] },
      introspection: { clientId: 'a', clientSecret: 'b', cacheSeconds: 0 },
    });
  });

  it.each<readonly [string, object]>([
    ['jwksUri', { jwksUri: 'ftp://a.example/k' }],
    ['requiredClaims', { requiredClaims: [''] }],
    ['algorithms', { algorithms: ['HS256'] }],
    ['algorithms', { algorithms: ['none'] }],
    ['algorithms', { algorithms: [] }],
    ['clock_tolerance_seconds', { clock_tolerance_seconds: 61 }],
    ['audience', { audience: [] }],
    ['audience', { audience: 7 }],
    ['claim_values', { claim_values: { a: [] } }],
    ['claim_values', { claim_values: ['a'] }],
    ['introspection', { introspection: { endpoint: 'https://a.example' } }],
    ['introspection', { introspection: { ...INTROSPECTION, cache_seconds: 301 } }],
  ])('refuses jwt_validation because of %s: %j', (field, change) => {
    expect(brokenIn(JwtValidationDto, { ...VALIDATION, ...change })).toEqual([field]);
  });

  it('requires jwksUri or introspection in jwt_validation', () => {
    expect(paramsOf({ jwt_validation: {} })).toEqual(['jwt_validation.jwksUri']);
    expect(paramsOf({ jwt_validation: { introspection: INTROSPECTION } })).toEqual([]);
  });

  it('refuses addresses in jwt_validation that EGRESS_ALLOW refuses', () => {
    const inside = 'https://169.254.169.254/x';
    expect(paramsOf({ jwt_validation: { jwks_uri: inside } })).toEqual(['jwt_validation.jwks_uri']);
    expect(paramsOf({ jwt_validation: { jwksUri: 'http://login.example.com/k' } })).toEqual(['jwt_validation.jwksUri']);
    expect(paramsOf({ jwt_validation: { introspection: { ...INTROSPECTION, endpoint: inside } } })).toEqual([
      'jwt_validation.introspection.endpoint',
    ]);
  });

  it.each(['X-User-JWT', 'X-Gateway-Api-Key', 'Cookie', 'Host', 'Content-Type', 'Mcp-Session-Id', 'a b'])(
    'refuses %s as the header of user tokens',
    (header_key) => {
      expect(paramsOf({ jwt_validation: { ...VALIDATION, header_key } })).toEqual(['jwt_validation.header_key']);
    },
  );
});

describe('forward_headers', () => {
  it.each<readonly [string, object]>([
    ['mode', { mode: 'all', headers: [] }],
    ['headers', { mode: 'all-except' }],
    ['headers', { mode: 'allowlist', headers: [7] }],
  ])('refuses forward_headers because of %s: %j', (field, value) =>
    expect(brokenIn(ForwardHeadersDto, value)).toEqual([field]),
  );

  it('refuses an allowlist with the identity header of the server', () => {
    const fields = {
      user_identity_forwarding: { method: 'claims_header', header_name: 'X-Who' },
      forward_headers: { mode: 'allowlist', headers: ['x-tenant', 'x_who'] },
    } as const;
    expect(paramsOf(fields)).toEqual(['forward_headers.headers.1']);
    expect(paramsOf({ ...fields, forward_headers: { mode: 'all-except', headers: ['x_who'] } })).toEqual([]);
  });

  it('refuses an allowlist with headers that are never forwarded', () => {
    const headers = ['X-Tenant', 'X_User_Claims', 'Authorization', 'x y'];
    expect(paramsOf({ forward_headers: { mode: 'allowlist', headers } })).toEqual([
      'forward_headers.headers.1',
      'forward_headers.headers.2',
      'forward_headers.headers.3',
    ]);
    expect(paramsOf({ forward_headers: { mode: 'all-except', headers: headers.slice(0, 3) } })).toEqual([]);
  });
});

describe("a server's configured headers", () => {
  it('refuses identity and protocol headers as configured headers of a server', () => {
    const fields: IdentityFields = { user_identity_forwarding: { method: 'claims_header', header_name: 'X-Who' } };
    const staticHeaders = ['Authorization', 'X-Own', 'x_who', 'X-User-JWT', 'Host', 'Mcp-Name'];
    expect(paramsOf(fields, { staticHeaders })).toEqual([
      'headers.x_who',
      'headers.X-User-JWT',
      'headers.Host',
      'headers.Mcp-Name',
    ]);
  });

  it('refuses a configured Authorization header with the method bearer', () => {
    const fields: IdentityFields = { user_identity_forwarding: { method: 'bearer' }, jwt_validation: VALIDATION };
    expect(paramsOf(fields, { staticHeaders: ['authorization'] })).toEqual(['headers.authorization']);
  });
});
