import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readObject, readString } from '../src/common/json/read.js';
import type { SchemaOrRef } from '../src/openapi/document.js';
import { READ_ONLY_DESCRIPTION } from '../src/openapi/read-only-fields.js';
import { type DocumentedGateway, startDocumentedGateway } from './support/documented-gateway.js';
import type { GatewayClient } from './support/gateway-client.js';
import { nullBodies } from './support/null-bodies.js';
import { type ApiDocument, fillIn, type Operation } from './support/openapi.js';
import { brokenRulesOf, jsonOf } from './support/send.js';

const PROVIDER_HEADERS = { 'x-gateway-virtual-key': 'local' };
/** Null is for keys of the organisation; the example is a key that needs a workspace. */
const DEPENDS = 'post /v1/api-keys workspace_id: refused';
const EVERYTHING = [{ key: 'workspace_id', value: '*' }];

let gateway: DocumentedGateway;
let client: GatewayClient;
let document: ApiDocument;

beforeAll(async () => {
  gateway = await startDocumentedGateway();
  ({ client, document } = gateway);
}, 60_000);
afterAll(() => gateway.close());

function operation(method: Operation['method'], path: string): Operation {
  const found = document.operations().find((one) => one.method === method && one.path === path);
  if (found === undefined) throw new Error(`the document has no ${method} ${path}`);
  return found;
}

/** A field that an update takes only as it was read: what it may be depends on what is stored. */
function isReadOnly(document: ApiDocument, schema: SchemaOrRef, param: string): boolean {
  const [name = ''] = param.split('.');
  const field = document.resolve(schema).properties?.[name];
  return field !== undefined && 'description' in field && field.description === READ_ONLY_DESCRIPTION;
}

/** Sends the request and returns how its answer differs from the document. */
async function differencesOf({ method, path, ...rest }: Operation, id: string): Promise<readonly unknown[]> {
  const answer = await client.request(method.toUpperCase(), fillIn(path, id));
  const schema = document.answerOf({ method, path, ...rest }, '200');
  return answer.status === 200 && schema !== undefined
    ? document.differences(schema, jsonOf(answer))
    : [answer.status, answer.text];
}

describe('documented nulls', () => {
  it.each([
    [
      '/v1/policies/usage-limits',
      { conditions: EVERYTHING, group_by: [{ key: 'api_key' }], type: 'cost', credit_limit: 1 },
      ['name', 'description', 'alert_threshold', 'periodic_reset', 'next_reset_at'],
    ],
    ['/v1/api-keys', { name: 'a', level: 'organisation', scopes: ['completions.write'] }, ['user', 'expires_at']],
    [
      '/v1/mcp-servers',
      { name: 'a', url: 'https://mcp.example.com/mcp' },
      ['description', 'user_identity_forwarding', 'jwt_validation', 'forward_headers'],
    ],
  ])('documents the nulls that %s returns', async (path, body, nulls) => {
    const one = `${path}/{${path === '/v1/api-keys' ? 'id' : 'ref'}}`;
    const id = readString((await client.create(path, body))['id'], 'id');
    expect(await client.read(`${path}/${id}`)).toMatchObject(Object.fromEntries(nulls.map((name) => [name, null])));
    expect(await differencesOf(operation('get', one), id)).toEqual([]);
    expect(await differencesOf(operation('get', path), id)).toEqual([]);
  });

  it('documents the null identity in a preview of headers', async () => {
    const path = '/v1/mcp-servers/{ref}/preview-headers';
    const server = { name: 'plain', url: 'https://mcp.example.com/mcp' };
    const id = readString((await client.create('/v1/mcp-servers', server))['id'], 'id');
    expect(jsonOf(await client.post(fillIn(path, id)))).toMatchObject({ identity: null });
    expect(await differencesOf(operation('post', path), id)).toEqual([]);
  });

  it('accepts null exactly where the document allows it', async () => {
    const wrong: string[] = [];
    let taken = 0;
    for (const { details, method, path } of document.operations()) {
      const schema = document.bodyOf({ details, method, path });
      if (schema === undefined) continue;
      for (const { param, body } of nullBodies(document, schema, readObject(document.exampleOf(schema) ?? {}, path))) {
        const answer = await client.request(method.toUpperCase(), fillIn(path, 'some-id'), body, PROVIDER_HEADERS);
        if (isReadOnly(document, schema, param)) continue;
        const isTaken = answer.status !== 400 || !brokenRulesOf(answer).has(param);
        const isDocumented = !document.differences(schema, body).some((text) => text.startsWith(`body.${param} `));
        if (isTaken) taken += 1;
        if (isTaken !== isDocumented) wrong.push(`${method} ${path} ${param}: ${isTaken ? 'taken' : 'refused'}`);
      }
    }
    expect(wrong).toEqual([DEPENDS]);
    expect(taken).toBeGreaterThan(20);
  }, 120_000);
});
