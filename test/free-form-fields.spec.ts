// Fields of free-form objects may have any name, those that every object inherits among them.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { isObject, type JsonObject } from '../src/common/json/read.js';
import { GatewayClient } from './support/gateway-client.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'team'];
const TEXTS = Object.fromEntries(NAMES.map((name) => [name, `the ${name}`]));
const POLLUTING: unknown = JSON.parse(
  '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
);
const DEEP = { ...TEXTS, toString: { more: TEXTS }, valueOf: [{ toString: {} }], more: POLLUTING };

interface Field {
  readonly path: string;
  /** The field, as a refusal names it. */
  readonly param: string;
  /** A create with a value in the field. */
  readonly create: (value: unknown) => JsonObject;
  /** An update with one. */
  readonly update: (value: unknown) => JsonObject;
  readonly value: JsonObject;
}

const REFERENCE = {
  manager_type: 'hashicorp_vault',
  auth_config: { vault_auth_type: 'token', vault_token: 'hvs.none', vault_addr: 'https://vault.example.com' },
  secret_path: 'secret/cohere',
};

function fieldOf(resource: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => (isObject(value) ? value[name] : undefined), resource);
}

const FIELDS: readonly Field[] = [
  {
    path: '/v1/secret-references',
    param: 'tags',
    create: (tags) => ({ ...REFERENCE, name: 'Free', tags }),
    update: (tags) => ({ tags }),
    value: DEEP,
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

/** With that field, an object is taken for one of a class, and libraries look at it in another way. */
function withoutConstructor({ constructor: _taken, ...others }: JsonObject): JsonObject {
  return others;
}

/** In any order of its fields, which the database does not keep. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .map(([name, item]) => [name, sorted(item)])
    .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1));
}

describe.each(FIELDS)('$param of $path', ({ path, param, create, update, value }) => {
  it('is kept as it is given, also by later changes', async () => {
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
