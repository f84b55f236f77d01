// How the document lets an administrator of several organisations select one, and which address of the API it names.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { readObject, readString } from '../src/common/json/read.js';
import { type DocumentedGateway, startDocumentedGateway } from './support/documented-gateway.js';
import { GatewayClient } from './support/gateway-client.js';
import { type IdentityProvider, startIdentityProvider } from './support/identity-provider.js';
import { fillIn, type Operation } from './support/openapi.js';
import { brokenRulesOf, jsonOf } from './support/send.js';

const PUBLIC_URL = 'https://gateway.example.com/tollgate/';
/** They answer an administrator who names no organisation, too. */
const OPTIONAL = ['get /v1/me', 'get /v1/organisations'];
const OTHER = '11111111-2222-4333-8444-555555555555';

let provider: IdentityProvider;
let gateway: DocumentedGateway;
let organisationId: string;
let admin: GatewayClient;

beforeAll(async () => {
  provider = await startIdentityProvider();
  gateway = await startDocumentedGateway({ ...provider.settings, EGRESS_ALLOW: '127.0.0.1', PUBLIC_URL });
  const workspace = await gateway.client.read('/v1/workspaces/default');
  organisationId = readString(workspace['organisation_id'], 'organisation_id');
  const token = await provider.tokenFor({ scopes: SCOPES, organisationId: [organisationId, OTHER] });
  admin = new GatewayClient(gateway.url, {}).withToken(token);
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

function takesOrganisation({ details }: Operation): boolean {
  return (details.parameters ?? []).some(
    (parameter) => !('$ref' in parameter) && parameter.in === 'query' && parameter.name === 'organisation_id',
  );
}

/** Whether the gateway requires an administrator of two organisations to name one. */
async function isMissed({ method, path }: Operation, query: string): Promise<boolean> {
  const body = method === 'get' || method === 'delete' ? undefined : {};
  const answer = await admin.request(method.toUpperCase(), fillIn(path, 'some-id') + query, body);
  return answer.status === 400 && brokenRulesOf(answer).has('organisation_id');
}

async function placesWhere(
  operations: readonly Operation[],
  holds: (operation: Operation) => boolean | Promise<boolean>,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const operation of operations) if (await holds(operation)) found.push(`${operation.method} ${operation.path}`);
  return found;
}

describe('the query parameter organisation_id', () => {
  it('documents organisation_id for all operations that need it, where it takes effect', async () => {
    const operations = gateway.document.operations();
    const needed = await placesWhere(operations, (operation) => isMissed(operation, ''));
    expect(needed.length).toBeGreaterThan(30);
    const taking = await placesWhere(operations, takesOrganisation);
    expect(taking.filter((place) => !OPTIONAL.includes(place))).toEqual(needed);
    expect(OPTIONAL.filter((place) => !taking.includes(place))).toEqual([]);
    const query = `?organisation_id=${organisationId}`;
    expect(await placesWhere(operations, (operation) => isMissed(operation, query))).toEqual([]);
  });
});

it('documents PUBLIC_URL as the server', async () => {
  const { servers } = readObject(jsonOf(await gateway.client.get('/docs/openapi.json')), 'document');
  expect(servers).toEqual([{ url: 'https://gateway.example.com/tollgate', description: 'This gateway.' }]);
});
