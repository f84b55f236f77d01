import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERROR_CODES } from '../src/common/errors/error-codes.js';
import { isObject, readObject, readString } from '../src/common/json/read.js';
import { READ_ONLY_DESCRIPTION } from '../src/openapi/read-only-fields.js';
import { type DocumentedGateway, startDocumentedGateway } from './support/documented-gateway.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { type ApiDocument, fillIn, type NumberSchema, type Operation, withoutField } from './support/openapi.js';
import { type Answer, brokenRulesOf, jsonOf, refusalOf } from './support/send.js';

const PROVIDER_HEADERS = { 'x-gateway-virtual-key': 'local' };
const PUBLIC_PATHS = ['/v1/login', '/.well-known/jwks.json', '/health/live', '/health/ready'];

/** Amounts, scores and model settings, by field name. */
const FRACTIONS = [
  'alert_threshold',
  'cost',
  'credit_limit',
  'current_usage',
  'headroom',
  'min_budget_left',
  'priority',
  'relevance_score',
  'reserved',
  'sample_rate',
  'temperature',
  'top_p',
  'used_share',
];
/** Its answer needs an MCP server: see mcp-tool-calls.app.spec.ts. */
const CALL_OF_A_TOOL = 'POST /v1/mcp-servers/{ref}/tools/{tool}/call';
/** Needs a person who is logged in: see login.app.spec.ts. */
const LOG_OUT_OF_A_PERSON = 'DELETE /v1/members/{member_id}/sessions';
const WHOLE_UNITS =
  /(^|_)(at|before|bytes|calls|days|finish|from|messages|ms|quantities|seconds|tokens|total|until|units)$/;
const WHOLE = [
  'attempts',
  'bytes_in',
  'bytes_out',
  'code',
  'completed',
  'context_window',
  'current_page',
  'end',
  'failed',
  'id',
  'index',
  'last_status_code',
  'limit',
  'line',
  'max_tokens_per_doc',
  'n_epochs',
  'page_size',
  'rpc_error_code',
  'seed',
  'sessions',
  'start',
  'status',
  'to',
  'tools',
  'top_k',
  'top_n',
  'value',
  'created',
  'order',
  'failures',
  'weight',
  'status_class',
  'upstream_attempts',
];

/** Fields that mean the same everywhere, or whose name is enough. */
const OBVIOUS = new Set([
  'created_at',
  'data',
  'description',
  'first_id',
  'has_more',
  'id',
  'last_id',
  'name',
  'object',
  'organisation_id',
  'slug',
  'total',
]);

let gateway: DocumentedGateway;
let client: GatewayClient;
let document: ApiDocument;

beforeAll(async () => {
  gateway = await startDocumentedGateway();
  ({ client, document } = gateway);
}, 60_000);
afterAll(() => gateway.close());

function nameOf({ method, path }: Operation): string {
  return `${method.toUpperCase()} ${path}`;
}

/** The operations with problems, each with its problems. */
function problems(find: (operation: Operation) => readonly string[]): readonly string[] {
  return document.operations().flatMap((operation) => find(operation).map((what) => `${nameOf(operation)}: ${what}`));
}

/** Areas that are forwarded to a provider and have its bodies: see `test/openapi-resources.process.spec.ts`. */
const RELAYED = new Set(['Assistants', 'Batches', 'Files', 'Fine-tuning', 'Inference', 'Uploads', 'Vector stores']);

function ownOperations(): readonly Operation[] {
  return document.operations().filter(({ details }) => !(details.tags ?? []).some((tag) => RELAYED.has(tag)));
}

function typeOf({ name }: NumberSchema): string {
  if (FRACTIONS.includes(name)) return 'number';
  return WHOLE_UNITS.test(name) || WHOLE.includes(name) ? 'integer' : 'in one of the lists';
}

function bodies(): readonly { readonly operation: Operation; readonly example: unknown }[] {
  return ownOperations().flatMap((operation) => {
    const schema = document.bodyOf(operation);
    return schema === undefined ? [] : [{ operation, example: document.resolve(schema).example }];
  });
}

/** Whether a schema takes a list, or an object with free names, of any size. */
function isUnbounded(schema: unknown): boolean {
  const { type, oneOf, maxItems, maxProperties, additionalProperties } = readObject(schema, 'schema');
  const types = [type].flat();
  if (Array.isArray(oneOf) && oneOf.some(isUnbounded)) return true;
  if (types.includes('array')) return maxItems === undefined;
  return types.includes('object') && additionalProperties !== false && maxProperties === undefined;
}

async function call({ method }: Operation, path: string, body?: unknown): Promise<Answer> {
  const caller = path === '/v1/sessions/current' ? await browser() : client;
  return caller.request(method.toUpperCase(), path, body, PROVIDER_HEADERS);
}

/** A client that is logged in, since a session can only be asked about itself. */
async function browser(): Promise<GatewayClient> {
  const answer = await client.post('/v1/sessions');
  const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const csrf = readString(jsonOf(answer)['csrf_token'], 'csrf_token');
  return new GatewayClient(gateway.url, { cookie, 'x-gateway-csrf-token': csrf });
}

describe('the OpenAPI document', () => {
  it('serves a valid OpenAPI document', async () => {
    const { valid, errors } = await new Validator().validate(
      readObject(jsonOf(await client.get('/docs/openapi.json')), 'document'),
    );
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('documents its own host as the server when PUBLIC_URL is not set', async () => {
    const { servers } = readObject(jsonOf(await client.get('/docs/openapi.json')), 'document');
    expect(servers).toEqual([{ url: '/', description: 'This gateway.' }]);
  });

  it('lists the operations of operations.txt, since their names are API', () => {
    const lines = document.allOperations().map((operation) => `${nameOf(operation)} ${operation.details.operationId}`);
    const listed = readFileSync(new URL('operations.txt', import.meta.url), 'utf8')
      .trim()
      .split('\n');
    expect(lines.sort()).toEqual(listed.sort());
  });

  it('names operations by a verb and a noun in lowerCamelCase, each once', () => {
    const ids = document.allOperations().map(({ details }) => details.operationId ?? '');
    expect(ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z]+)+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('contains only schemas that strict validators accept', () => {
    const schemas = document.schemas();
    expect(schemas).toContainEqual({ $ref: '#/components/schemas/UsageLimit' });
    for (const schema of schemas) expect(() => document.problems(schema, null)).not.toThrow();
  });

  it('serves the documentation page', async () => {
    const page = await client.get('/docs');
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  });

  it('lists every error code with its status and cause', async () => {
    const { info } = readObject(jsonOf(await client.get('/docs/openapi.json')), 'document');
    const rows = readString(readObject(info, 'info')['description'], 'description').split('\n');
    const missing = Object.entries(ERROR_CODES).filter(
      ([code, { status, when }]) =>
        !rows.some(
          (row) =>
            row.includes(`| \`${code}\` `) &&
            row.includes(when) &&
            (code === 'provider_rejected' || row.startsWith(`| ${status} `)),
        ),
    );
    expect(missing).toEqual([]);
    const { properties } = document.resolve({ $ref: '#/components/schemas/ErrorBody' });
    expect(properties?.['source']).toMatchObject({ enum: ['gateway', 'provider'] });
  });

  it('documents summary, tag and error answer of every route', () => {
    expect(
      problems((operation) => [
        ...(operation.details.summary ? [] : ['has no summary']),
        ...(operation.details.tags?.length === 1 ? [] : ['has no tag']),
        ...(document.answerOf(operation, 'default') === undefined ? ['has no error answer'] : []),
      ]),
    ).toEqual([]);
  });

  it('documents the refusals of MCP server addresses', async () => {
    const addresses = document.allOperations().filter(({ path }) => path.includes('{server}'));
    expect(addresses).toHaveLength(4);
    const statuses = [];
    for (const { method, path, details } of addresses) {
      const { status } = await new GatewayClient(gateway.url, {}).request(
        method.toUpperCase(),
        fillIn(path, 'nothing'),
      );
      statuses.push(status);
      expect(Object.keys(details.responses)).toContain(String(status));
    }
    expect(statuses.filter((status) => status < 400)).toEqual([]);
  });

  it('describes every parameter and every field whose name is not enough', () => {
    const parameters = problems(({ details }) =>
      (details.parameters ?? []).flatMap((parameter) =>
        '$ref' in parameter || !parameter.description ? [JSON.stringify(parameter)] : [],
      ),
    );
    const fields = document
      .components()
      .flatMap(([name, schema]) =>
        Object.entries(schema.properties ?? {}).map(([field, one]) => ({ name, field, one })),
      )
      .filter(({ field, one }) => !OBVIOUS.has(field) && !('$ref' in one) && !one.description);
    expect(parameters).toEqual([]);
    expect(fields.map(({ name, field }) => `${name}.${field}`)).toEqual([]);
  });

  it('documents the default workspaces of a secret reference', () => {
    const ref = (name: string) =>
      document.resolve({ $ref: `#/components/schemas/${name}` }).properties?.['allow_all_workspaces'];
    expect(ref('CreateSecretReferenceRequest')).toMatchObject({
      description: expect.stringContaining('Default: true'),
    });
    expect(ref('UpdateSecretReferenceRequest')).not.toMatchObject({ description: expect.stringContaining('Default') });
  });

  // Some client generators make a field with a `default` required.
  it('documents defaults of bodies in descriptions only', () => {
    const fields = document
      .schemas()
      .flatMap((schema) => Object.entries(document.resolve(schema).properties ?? {}))
      .flatMap(([name, field]) => ('default' in field ? [name] : []));
    expect(fields).toEqual([]);
  });

  it('requires no query parameter that has a default', () => {
    expect(
      problems(({ details }) =>
        (details.parameters ?? []).flatMap((parameter) =>
          'in' in parameter && parameter.in === 'query' && parameter.required === true ? [parameter.name] : [],
        ),
      ),
    ).toEqual([]);
  });

  // Numbers are documented as integers by default: a new fraction must be added to one of the lists by hand.
  it('documents the maximum of every list and map of a body', () => {
    const inputs = document.components().filter(([, schema]) => schema.additionalProperties === false);
    const found = inputs.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        .filter(([, field]) => !JSON.stringify(field).includes(READ_ONLY_DESCRIPTION) && isUnbounded(field))
        .map(([field]) => `${name}.${field}`),
    );
    expect(inputs.length).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });

  it('documents every number as an integer except the known fractions', () => {
    const numbers = document.numbers();
    const wrong = numbers.filter((number) => number.type !== typeOf(number));
    expect(wrong.map((number) => `${number.place} should be ${typeOf(number)}`)).toEqual([]);
    const known = new Set(numbers.map(({ name }) => name));
    expect(FRACTIONS.filter((name) => !known.has(name))).toEqual([]);
  });

  it('gives format int64 to every integer that may need more than 32 bits', () => {
    const format = ({ schema }: NumberSchema): string | undefined =>
      Number(schema['maximum'] ?? Infinity) < 2 ** 31 ? undefined : 'int64';
    const integers = document.numbers().filter(({ type }) => type === 'integer');
    expect(integers.filter((integer) => integer.schema['format'] !== format(integer))).toEqual([]);
    expect(new Set(integers.map(format))).toEqual(new Set(['int64', undefined]));
  });

  it('documents authentication for every route that refuses callers without a key', async () => {
    const nobody = new GatewayClient(gateway.url, {});
    for (const operation of document.operations()) {
      const answer = await nobody.request(operation.method.toUpperCase(), fillIn(operation.path, 'some-id'));
      const isPublic = PUBLIC_PATHS.includes(operation.path);
      expect([nameOf(operation), answer.status]).toEqual([nameOf(operation), isPublic ? 200 : 401]);
      const ways = (operation.details.security ?? []).map((way) => Object.keys(way));
      const documented = operation.details.security === undefined ? 'nothing' : ways;
      expect([nameOf(operation), documented]).toEqual([
        nameOf(operation),
        isPublic ? [] : [['gatewayKey'], ['bearer']],
      ]);
      expect([nameOf(operation), undocumentedError(operation, answer)]).toEqual([nameOf(operation), undefined]);
    }
  });

  it('documents the errors that follow from the properties of a route', () => {
    const lacking = problems(({ path, details: { requestBody, responses, security = [] } }) => {
      const isProtected = security.length > 0;
      const isJson = requestBody !== undefined && !('$ref' in requestBody) && 'application/json' in requestBody.content;
      const expected = [
        '400',
        '500',
        ...(isProtected ? ['401', '403', '429', '503'] : []),
        ...(path.includes('{') ? ['404'] : []),
        ...(path.includes('{ref}') ? ['409'] : []),
        ...(isJson ? ['408', '413', '415'] : []),
      ];
      return expected.filter((status) => !(status in responses));
    });
    expect(lacking).toEqual([]);
  });

  it('documents every error of a metered provider call for createRerank', () => {
    const rerank = document.operations().find(({ details }) => details.operationId === 'createRerank');
    if (rerank === undefined) throw new Error('the document has no createRerank');
    const codes = ['400', '404', '412', '429', '502', '503', '504'].map((status) => [
      status,
      document.errorCodesOf(rerank, status),
    ]);
    expect(Object.fromEntries(codes)).toEqual({
      400: [
        'validation_failed',
        'unsupported_parameter',
        'provider_not_supported',
        'virtual_key_required',
        'provider_rejected',
      ],
      404: ['virtual_key_not_found', 'model_not_found'],
      412: ['usage_limit_exceeded', 'price_unknown'],
      429: ['rate_limited', 'usage_limit_contended', 'provider_rate_limited'],
      502: ['provider_credential_rejected', 'provider_failed', 'provider_invalid_response', 'secret_unavailable'],
      503: ['store_unavailable', 'usage_limit_unreadable', 'provider_busy'],
      504: ['provider_timeout'],
    });
  });

  it('contains an example of every documented error code in the documented form', () => {
    const examples = document.examples();
    expect(Object.keys(examples).filter((code) => !(code in ERROR_CODES))).toEqual([]);
    const schema = { $ref: '#/components/schemas/ErrorResponse' };
    for (const value of Object.values(examples)) expect(document.differences(schema, value)).toEqual([]);
  });

  it('documents a body for every route that accepts one', () => {
    const without = ownOperations().filter((operation) => document.bodyOf(operation) === undefined);
    expect(new Set(without.map(({ method }) => method))).toEqual(new Set(['get', 'delete']));
  });

  it('contains an example of every request body with all required fields', () => {
    expect(
      bodies().flatMap(({ operation, example }) => {
        if (!isObject(example)) return [`${nameOf(operation)}: no example`];
        const schema = document.bodyOf(operation);
        const missing =
          schema === undefined ? [] : document.requiredFieldsOf(schema).filter((name) => !(name in example));
        return missing.map((name) => `${nameOf(operation)}: no example of ${name}`);
      }),
    ).toEqual([]);
  });
});

describe('the gateway as the document describes it', () => {
  it('accepts every example and answers with exactly the documented fields', async () => {
    const refs = new Map<string, unknown>();
    for (const operation of ownOperations()) {
      const { method, path } = operation;
      if (nameOf(operation) === CALL_OF_A_TOOL || nameOf(operation) === LOG_OUT_OF_A_PERSON) continue;
      const schema = document.bodyOf(operation);
      const body = schema === undefined ? undefined : (document.resolve(schema).example ?? {});
      const collection = path.replace(/\/\{.*$/, '');
      const answer = await call(operation, fillIn(path, ...(await refsFor(path, refs.get(collection)))), body);
      expect(statusesOf(operation)).toContain(`${nameOf(operation)} answers ${answer.status}`);
      if (answer.status === 204 || answer.headers['content-type'] === 'application/x-ndjson') continue;
      const answered = jsonOf(answer);
      if (method === 'post' && path === collection) refs.set(collection, answered['id']);
      const documented = document.answerOf(operation, String(answer.status));
      const found =
        documented === undefined ? ['the answer has no schema'] : document.differences(documented, answered);
      expect([nameOf(operation), ...found]).toEqual([nameOf(operation)]);
    }
  });

  it('refuses every example without a required field, and names the field', async () => {
    for (const { operation, example } of bodies()) {
      const schema = document.bodyOf(operation);
      if (schema === undefined) continue;
      for (const field of document.requiredFieldsOf(schema)) {
        const answer = await call(operation, operation.path, withoutField(readObject(example, 'example'), field));
        expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: field });
      }
    }
  });

  it('accepts a missing body exactly where the document does not require one', async () => {
    const required: string[] = [];
    const optional: string[] = [];
    for (const { operation } of bodies()) {
      const { requestBody } = operation.details;
      const isRequired = requestBody !== undefined && !('$ref' in requestBody) && requestBody.required !== false;
      const answer = await call(operation, fillIn(operation.path, 'some-id'));
      expect([nameOf(operation), answer.status === 400]).toEqual([nameOf(operation), isRequired]);
      (isRequired ? required : optional).push(nameOf(operation));
    }
    expect(optional).toContain('POST /v1/api-keys/{id}/rotate');
    expect(required).toContain('POST /v1/rerank');
  });

  it('refuses undocumented fields in every example with the documented error', async () => {
    for (const { operation, example } of bodies()) {
      const answer = await call(operation, fillIn(operation.path, 'some-id'), { ...Object(example), undocumented: 1 });
      expect([answer.status, ...brokenRulesOf(answer)]).toEqual([400, 'undocumented']);
      expect(undocumentedError(operation, answer)).toBeUndefined();
      const schema = document.answerOf(operation, 'default');
      expect(schema === undefined ? ['no schema'] : document.differences(schema, jsonOf(answer))).toEqual([]);
    }
  });
});

/** The code of an error that the operation does not document for this status; undefined when it does. */
function undocumentedError(operation: Operation, answer: Answer): string | undefined {
  if (answer.status < 400) return undefined;
  const { code } = readObject(refusalOf(answer), 'refusal');
  return document.errorCodesOf(operation, String(answer.status)).includes(String(code)) ? undefined : String(code);
}

/** Values for the parameters of a path: the resource of its collection, and the first item that belongs to it. */
async function refsFor(path: string, made: unknown): Promise<readonly unknown[]> {
  if (path === '/v1/logs/{id}') return [await loggedCall()];
  if (path === '/v1/logs/{id}/bodies') return [await callWithBodies()];
  const nested = /^[^{]*\{\w+\}\/[^{]*(?=\/\{)/.exec(path)?.[0];
  if (nested === undefined) return [made];
  // Usage has entities only after usage was recorded.
  if (nested.endsWith('/entities')) await rerankLocally();
  const [first] = await client.list(fillIn(nested, made));
  return [made, first?.['id']];
}

/** The log of calls is written behind them. */
async function loggedCall(): Promise<unknown> {
  await client.post('/v1/rerank', { model: 'bm25', query: 'a', documents: ['a'] }, PROVIDER_HEADERS);
  let found: unknown;
  await eventually(async () => (found = (await client.list('/v1/logs'))[0]?.['id']) !== undefined);
  return found;
}

/** Of a workspace that keeps them. */
async function callWithBodies(): Promise<unknown> {
  expect((await client.patch('/v1/workspaces/default', { log_bodies: {} })).status).toBe(200);
  const scopes = ['completions.write'];
  const key = await client.createKey({ level: 'workspace', workspace_id: 'default', scopes });
  const asked = { model: 'bm25', query: 'a', documents: ['a'] };
  expect((await key.client.post('/v1/rerank', asked, PROVIDER_HEADERS)).status).toBe(200);
  let found = '';
  await eventually(async () => {
    const [logged] = await client.list(`/v1/logs?actor_id=${key.id}`);
    if (logged === undefined) return false;
    found = readString(logged['id'], 'id');
    return (await client.get(`/v1/logs/${found}/bodies`)).status === 200;
  });
  return found;
}

/** At a price: what costs nothing makes no group. */
async function rerankLocally(): Promise<void> {
  await client.create('/v1/prices', { provider: 'local', model: 'bm25', unit: 'request', price: '0.001' });
  const headers = { 'x-gateway-virtual-key': 'local' };
  const { status } = await client.post('/v1/rerank', { model: 'bm25', query: 'a', documents: ['a'] }, headers);
  expect(status).toBe(200);
}

/** Statuses of a success: a PUT that may create has two. */
function statusesOf(operation: Operation): readonly string[] {
  return Object.keys(operation.details.responses)
    .filter((status) => status.startsWith('2'))
    .map((status) => `${nameOf(operation)} answers ${status}`);
}
