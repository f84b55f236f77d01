import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ASSISTANTS_ROUTES } from '../src/assistants/assistants.routes.js';
import { BATCH_ROUTES } from '../src/batches/batch.routes.js';
import { FILE_ROUTES } from '../src/batches/file.routes.js';
import { type JsonObject, readArray, readObject, readString } from '../src/common/json/read.js';
import { FINE_TUNING_ROUTES } from '../src/fine-tuning/fine-tuning.routes.js';
import { hasJsonBody, methodOf } from '../src/gateway/relay/relay-route.js';
import { type DocumentedGateway, startDocumentedGateway } from './support/documented-gateway.js';
import { type FakeProvider, json, startFakeProvider } from './support/fake-provider.js';
import { forEvery } from './support/for-every.js';
import type { GatewayClient } from './support/gateway-client.js';
import { NEW_BATCH, NEW_JOB, NEW_RUN, RELAYED_ANSWERS } from './support/openai-answers.js';
import { type ApiDocument, fillIn } from './support/openapi.js';

const AREAS = {
  Batches: BATCH_ROUTES,
  Files: FILE_ROUTES,
  'Fine-tuning': FINE_TUNING_ROUTES,
  Assistants: ASSISTANTS_ROUTES,
};
const ROUTES = Object.entries(AREAS).flatMap(([tag, routes]) =>
  routes.map((row) => {
    const route = { ...row, method: methodOf(row), hasBody: hasJsonBody(row) || row.kind === 'upload' };
    return { tag, route, name: `${route.method} ${route.path}` };
  }),
);

/** The tables of the interface: the fields of each resource. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  ThreadRun: [
    'id',
    'object',
    'created_at',
    'thread_id',
    'assistant_id',
    'status',
    'required_action',
    'last_error',
    'expires_at',
    'started_at',
    'cancelled_at',
    'failed_at',
    'completed_at',
    'incomplete_details',
    'model',
    'instructions',
    'tools',
    'metadata',
    'usage',
    'max_prompt_tokens',
    'max_completion_tokens',
    'truncation_strategy',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'temperature',
    'top_p',
  ],
  RequiredAction: ['type', 'submit_tool_outputs'],
  SubmitToolOutputs: ['tool_calls'],
  ToolCall: ['id', 'type', 'function'],
  ToolCallFunction: ['name', 'arguments'],
  RunError: ['code', 'message'],
  IncompleteDetails: ['reason'],
  RunUsage: ['completion_tokens', 'prompt_tokens', 'total_tokens'],
  TruncationStrategy: ['type', 'last_messages'],
  Batch: [
    'id',
    'object',
    'endpoint',
    'input_file_id',
    'completion_window',
    'status',
    'created_at',
    'errors',
    'output_file_id',
    'error_file_id',
    'in_progress_at',
    'expires_at',
    'finalizing_at',
    'completed_at',
    'failed_at',
    'expired_at',
    'cancelling_at',
    'cancelled_at',
    'request_counts',
    'metadata',
  ],
  BatchErrors: ['object', 'data'],
  BatchError: ['code', 'message', 'param', 'line'],
  BatchRequestCounts: ['total', 'completed', 'failed'],
  FineTuningJob: [
    'id',
    'created_at',
    'error',
    'fine_tuned_model',
    'finished_at',
    'hyperparameters',
    'model',
    'object',
    'organization_id',
    'result_files',
    'status',
    'trained_tokens',
    'training_file',
    'validation_file',
    'seed',
    'integrations',
    'estimated_finish',
  ],
  FineTuningError: ['code', 'message', 'param'],
  Hyperparameters: ['n_epochs'],
  Integration: ['type', 'wandb'],
  ExperimentTracking: ['project', 'name', 'entity', 'tags'],
  ThreadRunList: ['object', 'data', 'first_id', 'last_id', 'has_more'],
  BatchList: ['object', 'data', 'first_id', 'last_id', 'has_more'],
};

/** The fields that the interface requires. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  ThreadRunList: ['object', 'data', 'first_id', 'last_id', 'has_more'],
  BatchList: ['object', 'data', 'has_more'],
  FineTuningJob: (TABLES['FineTuningJob'] ?? []).slice(0, 15),
};

let gateway: DocumentedGateway;
let provider: FakeProvider;
let client: GatewayClient;
let document: JsonObject;
let api: ApiDocument;

beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startDocumentedGateway({ EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'warn' });
  ({ client, document: api } = gateway);
  document = await client.read('/docs/openapi.json');
  await client.create('/v1/virtual-keys', {
    name: 'relay',
    slug: 'relay',
    provider: 'openai-compatible',
    key: 'a-key-of-the-provider',
    config: { base_url: provider.url },
  });
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

/** The part of the document at this path. */
function at(...path: readonly string[]): JsonObject {
  return path.reduce((place, name) => readObject(place[name], path.join('.')), document);
}

const isA = (name: string, value: unknown): boolean =>
  api.problems({ $ref: `#/components/schemas/${name}` }, value).length === 0;

const operationOf = ({ method, path }: { readonly method: string; readonly path: string }): JsonObject =>
  at('paths', `/v1${path}`, method.toLowerCase());

function queryOf(path: string): readonly JsonObject[] {
  return readArray(operationOf({ method: 'GET', path })['parameters'], 'parameters')
    .map((parameter) => readObject(parameter, 'parameter'))
    .filter((parameter) => parameter['in'] === 'query');
}

describe('the document', () => {
  it('documents every relay route in its area, with a summary and a response', () => {
    const routes = ROUTES.map((row) => [row.name, row] as const);
    return forEvery(routes, ({ tag, route }) => {
      const operation = operationOf(route);
      expect(operation).toMatchObject({ tags: [tag], summary: route.summary });
      const answer = at('paths', `/v1${route.path}`, route.method.toLowerCase(), 'responses', '200');
      expect(answer['content']).toBeDefined();
      expect(operation['requestBody'] !== undefined).toBe(route.hasBody);
    });
  });

  it('takes the operationId of a relayed route from its table row', () => {
    const ids = ROUTES.map(({ route }) => readString(operationOf(route)['operationId'], 'operationId'));
    expect(ids).toEqual(ROUTES.map(({ route }) => route.operationId));
  });

  it('documents every field of each resource of the interface', () => {
    const tables = Object.entries(TABLES).map(([name, fields]) => [name, { name, fields }] as const);
    return forEvery(tables, ({ name, fields }) => {
      expect(Object.keys(at('components', 'schemas', name, 'properties')).sort()).toEqual([...fields].sort());
    });
  });

  it('requires the fields that the interface requires', () => {
    const tables = Object.entries(REQUIRED).map(([name, fields]) => [name, { name, fields }] as const);
    return forEvery(tables, ({ name, fields }) => {
      expect(at('components', 'schemas', name)['required']).toEqual(expect.arrayContaining([...fields]));
    });
  });

  it('documents the number of epochs as a string, an integer or null', () => {
    const isEpochs = (value: unknown): boolean => isA('Hyperparameters', { n_epochs: value });
    expect(['auto', 3, null].filter((value) => !isEpochs(value))).toEqual([]);
    expect([1.5, true, {}].filter(isEpochs)).toEqual([]);
  });

  it.each(RELAYED_ANSWERS)('accepts the relayed values of %s: %s', async (path, _what, answered) => {
    provider.replyWith(json(answered));
    const { text } = await client.get(`/v1${fillIn(path, 'an-id')}`, { 'x-gateway-virtual-key': 'relay' });
    expect(text).toBe(JSON.stringify(answered));
    const ok = at('paths', `/v1${path}`, 'get', 'responses', '200', 'content', 'application/json', 'schema');
    expect(api.problems(ok, answered)).toEqual([]);
  });

  it.each([
    ['ThreadRunList', { object: 'list', data: [], has_more: false }],
    ['ThreadRun', { ...NEW_RUN, id: null }],
    ['ThreadRun', { ...NEW_RUN, last_error: {} }],
    ['Batch', { ...NEW_BATCH, errors: [] }],
    ['FineTuningJob', { ...NEW_JOB, error: 'failed' }],
    ['FineTuningJob', { ...NEW_JOB, hyperparameters: null }],
  ])('refuses other values for a %s (%#)', (name, value) => {
    expect(isA(name, value)).toBe(false);
  });

  it('documents both names of the version header on the routes of threads, and nowhere else', () => {
    const versioned = ROUTES.filter(({ route }) => {
      const names = readArray(operationOf(route)['parameters'], 'parameters').map(
        (parameter) => readObject(parameter, 'parameter')['name'],
      );
      return names.includes('Provider-Beta') && names.includes('OpenAI-Beta');
    });
    expect(versioned.map(({ name }) => name)).toEqual(
      ROUTES.filter(({ tag }) => tag === 'Assistants').map(({ name }) => name),
    );
  });

  it('documents the parameters of the lists with their rules', () => {
    const limit = {
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    };
    const order = { name: 'order', required: false, schema: { enum: ['asc', 'desc'], default: 'desc' } };
    const cursor = (name: string) => ({ name, required: false, schema: { type: 'string', minLength: 1 } });
    const batches = queryOf('/batches');
    const version = { name: 'api-version', required: false, schema: { type: 'string' } };
    expect(batches).toMatchObject([version, limit, cursor('after')]);
    const runs = [...queryOf('/threads/{thread_id}/runs')].sort((a, b) =>
      String(a['name']).localeCompare(String(b['name'])),
    );
    expect(runs).toMatchObject([cursor('after'), version, cursor('before'), limit, order]);
  });
});
