import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { ERROR_CODES } from '../src/common/errors/error-codes.js';
import { isObject, readObject, readString } from '../src/common/json/read.js';
import { type DocumentedGateway, startDocumentedGateway } from './support/documented-gateway.js';
import { GatewayClient } from './support/gateway-client.js';
import { type ApiDocument, fillIn, type NumberSchema, type Operation, withoutField } from './support/openapi.js';
import { type Answer, brokenRulesOf, jsonOf, refusalOf } from './support/send.js';

const PROVIDER_HEADERS = { 'x-gateway-virtual-key': 'local' };
const PUBLIC_PATHS = ['/.well-known/jwks.json', '/health/live', '/health/ready'];

/** Amounts, scores and settings of models, by name. */
const FRACTIONS = [
  'alert_threshold',
  'cost',
  'credit_limit',
  'current_usage',
  'headroom',
  'priority',
  'relevance_score',
  'reserved',
  'temperature',
  'top_p',
];
const WHOLE_UNITS = /(^|_)(at|bytes|calls|finish|from|messages|ms|seconds|tokens|total|until|units)$/;
const WHOLE = [
  'attempts',
  'bytes_in',
  'bytes_out',
  'code',
  'completed',
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
  'seed',
  'start',
  'status',
  'to',
  'tools',
  'top_n',
  'value',
];

/** Fields that mean the same everywhere, or that say it all. */
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

/** The operations of which something is wrong, each with what it is. */
function problems(find: (operation: Operation) => readonly string[]): readonly string[] {
  return document.operations().flatMap((operation) => find(operation).map((what) => `${nameOf(operation)}: ${what}`));
}

/** Areas that are passed on to a provider: their bodies are the provider's, and `test/openapi-resources.spec.ts` is theirs. */
const RELAYED = new Set(['Assistants', 'Batches', 'Files', 'Fine-tuning']);

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

function call({ method }: Operation, path: string, body?: unknown): Promise<Answer> {
  return client.request(method.toUpperCase(), path, body, PROVIDER_HEADERS);
}

describe('the OpenAPI document', () => {
  it('is valid', async () => {
    const { valid, errors } = await new Validator().validate(
      readObject(jsonOf(await client.get('/docs/openapi.json')), 'document'),
    );
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('names its own host as the server when PUBLIC_URL is not set', async () => {
    const { servers } = readObject(jsonOf(await client.get('/docs/openapi.json')), 'document');
    expect(servers).toEqual([{ url: '/', description: 'This gateway.' }]);
  });

  it('has the same operations as operations.txt, since their names are API', () => {
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

  it('has schemas that strict validators take as they stand', () => {
    const schemas = document.schemas();
    expect(schemas).toContainEqual({ $ref: '#/components/schemas/UsageLimit' });
    for (const schema of schemas) expect(() => document.problems(schema, null)).not.toThrow();
  });

  it('is the one that the page shows', async () => {
    const page = await client.get('/docs');
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  });

  it('lists every error, with its status and when it happens', async () => {
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

  it('says of every route what it does, to which area it belongs, and how it fails', () => {
    expect(
      problems((operation) => [
        ...(operation.details.summary ? [] : ['has no summary']),
        ...(operation.details.tags?.length === 1 ? [] : ['has no tag']),
        ...(document.answerOf(operation, 'default') === undefined ? ['has no error answer'] : []),
      ]),
    ).toEqual([]);
  });

  it('documents how the addresses of MCP servers refuse', async () => {
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

  it('describes every parameter, and every field whose name is not enough', () => {
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

  it('gives the default of the interface for the workspaces of a secret reference', () => {
    const ref = (name: string) =>
      document.resolve({ $ref: `#/components/schemas/${name}` }).properties?.['allow_all_workspaces'];
    expect(ref('CreateSecretReferenceRequest')).toMatchObject({
      description: expect.stringContaining('Default: true'),
    });
    expect(ref('UpdateSecretReferenceRequest')).not.toMatchObject({ description: expect.stringContaining('Default') });
  });

  // Some generators of clients make a field with a `default` one that every body has to have.
  it('says the defaults of bodies in words', () => {
    const fields = document
      .schemas()
      .flatMap((schema) => Object.entries(document.resolve(schema).properties ?? {}))
      .flatMap(([name, field]) => ('default' in field ? [name] : []));
    expect(fields).toEqual([]);
  });

  it('asks for no query parameter that has a default', () => {
    expect(
      problems(({ details }) =>
        (details.parameters ?? []).flatMap((parameter) =>
          'in' in parameter && parameter.in === 'query' && parameter.required === true ? [parameter.name] : [],
        ),
      ),
    ).toEqual([]);
  });

  // The gateway calls whole what does not say otherwise: a new number has to be put into one of the lists by hand.
  it('calls every number an integer but the known fractions', () => {
    const numbers = document.numbers();
    const wrong = numbers.filter((number) => number.type !== typeOf(number));
    expect(wrong.map((number) => `${number.place} should be ${typeOf(number)}`)).toEqual([]);
    const known = new Set(numbers.map(({ name }) => name));
    expect(FRACTIONS.filter((name) => !known.has(name))).toEqual([]);
  });

  it('gives 64 bits to every integer that may need more than 32', () => {
    const format = ({ schema }: NumberSchema): string | undefined =>
      Number(schema['maximum'] ?? Infinity) < 2 ** 31 ? undefined : 'int64';
    const integers = document.numbers().filter(({ type }) => type === 'integer');
    expect(integers.filter((integer) => integer.schema['format'] !== format(integer))).toEqual([]);
    expect(new Set(integers.map(format))).toEqual(new Set(['int64', undefined]));
  });

  it('tells which routes need a key: all that refuse a caller without one', async () => {
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

  it('documents the errors that follow from what a route has', () => {
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

  it('documents for createRerank every error of a metered call to a provider', () => {
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
      404: ['virtual_key_not_found'],
      412: ['usage_limit_exceeded', 'price_unknown'],
      429: ['rate_limited', 'usage_limit_contended', 'provider_rate_limited'],
      502: ['provider_credential_rejected', 'provider_failed', 'provider_invalid_response', 'secret_unavailable'],
      503: ['store_unavailable', 'usage_limit_unreadable'],
      504: ['provider_timeout'],
    });
  });

  it('has an example of every code that an operation documents, in the documented form', () => {
    const examples = document.examples();
    expect(Object.keys(examples).filter((code) => !(code in ERROR_CODES))).toEqual([]);
    const schema = { $ref: '#/components/schemas/ErrorResponse' };
    for (const value of Object.values(examples)) expect(document.differences(schema, value)).toEqual([]);
  });

  it('has a body for every route that takes one, so that none passes over what it does not know', () => {
    const without = ownOperations().filter((operation) => document.bodyOf(operation) === undefined);
    expect(new Set(without.map(({ method }) => method))).toEqual(new Set(['get', 'delete']));
  });

  it('gives an example of every request body, with all required fields', () => {
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

describe('the gateway, used as the document says', () => {
  it('accepts every example, and answers with the documented fields and no others', async () => {
    const refs = new Map<string, unknown>();
    for (const operation of ownOperations()) {
      const { method, path } = operation;
      const schema = document.bodyOf(operation);
      const body = schema === undefined ? undefined : (document.resolve(schema).example ?? {});
      const collection = path.replace(/\/\{.*$/, '');
      const answer = await call(operation, fillIn(path, ...(await refsFor(path, refs.get(collection)))), body);
      expect(`${nameOf(operation)} answers ${answer.status}`).toBe(
        `${nameOf(operation)} answers ${statusOf(operation)}`,
      );
      if (answer.status === 204) continue;
      const answered = jsonOf(answer);
      if (method === 'post' && path === collection) refs.set(collection, answered['id']);
      const documented = document.answerOf(operation, String(answer.status));
      const found =
        documented === undefined ? ['the answer has no schema'] : document.differences(documented, answered);
      expect([nameOf(operation), ...found]).toEqual([nameOf(operation)]);
    }
  });

  it('refuses every example without one of its required fields, and names it', async () => {
    for (const { operation, example } of bodies()) {
      const schema = document.bodyOf(operation);
      if (schema === undefined) continue;
      for (const field of document.requiredFieldsOf(schema)) {
        const answer = await call(operation, operation.path, withoutField(readObject(example, 'example'), field));
        expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: field });
      }
    }
  });

  it('takes a request without a body where the document asks for none, and nowhere else', async () => {
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

  it('refuses every example with a field that is not documented, in the documented form', async () => {
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
  const { code } = readObject(readObject(jsonOf(answer), 'answer')['error'], 'error');
  return document.errorCodesOf(operation, String(answer.status)).includes(String(code)) ? undefined : String(code);
}

/** Values for the parameters of a path: what was made in its collection, and the first thing that belongs to that. */
async function refsFor(path: string, made: unknown): Promise<readonly unknown[]> {
  const nested = /^[^{]*\{\w+\}\/[^{]*(?=\/\{)/.exec(path)?.[0];
  if (nested === undefined) return [made];
  // Usage has entities once there is usage.
  if (nested.endsWith('/entities')) await rerankLocally();
  const [first] = await client.list(fillIn(nested, made));
  return [made, first?.['id']];
}

async function rerankLocally(): Promise<void> {
  const headers = { 'x-gateway-virtual-key': 'local' };
  const { status } = await client.post('/v1/rerank', { model: 'bm25', query: 'a', documents: ['a'] }, headers);
  expect(status).toBe(200);
}

/** The status of a success. */
function statusOf({ details }: Operation): string {
  return Object.keys(details.responses)
    .filter((status) => status.startsWith('2'))
    .join(' or ');
}
