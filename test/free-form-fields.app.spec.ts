// Free-form objects accept any field name, including names that every object inherits.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { isObject, type JsonObject } from '../src/common/json/read.js';
import { GatewayClient } from './support/gateway-client.js';
import { refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'team'];
const TEXTS = Object.fromEntries(NAMES.map((name) => [name, `the ${name}`]));
const LISTS = Object.fromEntries(NAMES.map((name) => [name, [name, 'other']]));
const POLLUTING: unknown = JSON.parse(
  '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
);
const DEEP = { ...TEXTS, toString: { more: TEXTS }, valueOf: [{ toString: {} }], more: POLLUTING };

interface Field {
  readonly path: string;
  /** The field as a refusal names it. */
  readonly param: string;
  /** The body of a create with a value in the field. */
  readonly create: (value: unknown) => JsonObject;
  /** The body of an update with a value in the field. */
  readonly update: (value: unknown) => JsonObject;
  readonly value: JsonObject;
}

const REFERENCE = {
  manager_type: 'hashicorp_vault',
  auth_config: { vault_auth_type: 'token', vault_token: 'hvs.none', vault_addr: 'https://vault.example.com' },
  secret_path: 'secret/cohere',
};
const SERVER = { name: 'Free', url: 'https://mcp.example.com/mcp' };
const KEY = { name: 'Free', level: 'organisation', scopes: ['completions.write'] };

function fieldOf(resource: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => (isObject(value) ? value[name] : undefined), resource);
}

function validation(claim_values: unknown): object {
  return { jwksUri: 'https://login.example.com/jwks', claim_values };
}

const FIELDS: readonly Field[] = [
  {
    path: '/v1/api-keys',
    param: 'metadata',
    create: (metadata) => ({ ...KEY, metadata }),
    update: (metadata) => ({ metadata }),
    value: TEXTS,
  },
  {
    path: '/v1/workspaces',
    param: 'defaults.metadata',
    create: (metadata) => ({ name: 'Free', defaults: { metadata } }),
    update: (metadata) => ({ defaults: { metadata } }),
    value: TEXTS,
  },
  {
    path: '/v1/secret-references',
    param: 'tags',
    create: (tags) => ({ ...REFERENCE, name: 'Free', tags }),
    update: (tags) => ({ tags }),
    value: DEEP,
  },
  {
    path: '/v1/mcp-servers',
    param: 'jwt_validation.claim_values',
    create: (values) => ({ ...SERVER, jwt_validation: validation(values) }),
    update: (values) => ({ jwt_validation: validation(values) }),
    value: LISTS,
  },
];

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
});
afterEach(() => expect('polluted' in {}).toBe(false));
afterAll(() => gateway.close());

/** With that field, libraries take an object for an instance of a class and treat it differently. */
function withoutConstructor({ constructor: _taken, ...others }: JsonObject): JsonObject {
  return others;
}

/** Sorts the fields, since the database does not keep their order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .map(([name, item]) => [name, sorted(item)])
    .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}

describe.each(FIELDS)('$param of $path', ({ path, param, create, update, value }) => {
  it('keeps a free-form object unchanged through creates and later updates', async () => {
    for (const given of [value, withoutConstructor(value)]) {
      const { id } = await admin.create(path, create(given));
      const resource = `${path}/${String(id)}`;
      expect(sorted(fieldOf(await admin.read(resource), param))).toEqual(sorted(given));
      const { team: _taken, ...others } = given;
      for (const change of [update(others), update(others), { name: 'Renamed' }]) {
        expect((await admin.patch(resource, change)).status).toBe(200);
        expect(sorted(fieldOf(await admin.read(resource), param))).toEqual(sorted(others));
      }
    }
  });
});

it('keeps MCP server headers with any name', async () => {
  const { id } = await admin.create('/v1/mcp-servers', { ...SERVER, auth_type: 'headers', headers: TEXTS });
  const { headers } = await admin.read(`/v1/mcp-servers/${String(id)}`);
  expect(new Set(Object.keys(Object(headers)))).toEqual(new Set(NAMES));
});

it.each([[DEEP], [withoutConstructor(DEEP)]])('keeps the claims of users with any name: %#', async (claims) => {
  const { id } = await admin.create('/v1/api-keys', { ...KEY, type: 'user', user: { user_id: 'u', claims } });
  const resource = `/v1/api-keys/${String(id)}`;
  expect((await admin.patch(resource, { name: 'Renamed' })).status).toBe(200);
  expect(sorted(fieldOf(await admin.read(resource), 'user.claims'))).toEqual(sorted(claims));
});

it.each([
  ['/v1/virtual-keys', { name: 'x', provider: 'cohere', key: 'k', config: TEXTS }, 'config.constructor'],
  ['/v1/virtual-keys', { name: 'x', provider: 'cohere', key: 'k', config: { base_url: TEXTS } }, 'config.base_url'],
  [
    '/v1/virtual-keys',
    { name: 'x', provider: 'cohere', secret_mappings: [{ target_field: TEXTS }] },
    'secret_mappings.0.target_field',
  ],
  ['/v1/virtual-keys', { name: 'x', provider: 'cohere', secret_mappings: [TEXTS] }, 'secret_mappings.0.__proto__'],
  ['/v1/mcp-servers', { ...SERVER, secret_mappings: [{ target_field: TEXTS }] }, 'secret_mappings.0.target_field'],
  [
    '/v1/secret-references',
    { ...REFERENCE, name: 'x', auth_config: { ...REFERENCE.auth_config, ...TEXTS } },
    'auth_config.constructor',
  ],
  ['/v1/api-keys', { ...KEY, name: TEXTS }, 'name'],
  [
    '/v1/policies/usage-limits',
    { conditions: [{ key: 'model', value: TEXTS }], group_by: [{ key: 'model' }], type: 'cost', credit_limit: 1 },
    'conditions.0.value',
  ],
  ['/v1/workspaces', { name: 'x', defaults: TEXTS }, 'defaults.team'],
])('refuses unusual field names in objects that are not free-form: %s %#', async (path, body, param) => {
  const answer = await admin.post(path, body);
  expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
  expect(answer.text).toContain(`"param":"${param}"`);
});
