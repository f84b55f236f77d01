// Stored responses of the OpenAI API. Source: https://platform.openai.com/docs/api-reference/responses, read 2026-11-27.
import type { ResourceProvider } from '../gateway/relay/operation.types.js';
import type { RelayRoute } from '../gateway/relay/relay-route.js';
import type { ResourceArea } from '../gateway/relay/resource-area.js';
import { RESPONSE_ID } from '../gateway/routing/response-pins.js';
import { ResponseInputQuery, StoredResponseQuery } from './stored-response.query.js';

const RESPONSE = { kind: 'response', name: RESPONSE_ID } as const;
const PATH = `/responses/{${RESPONSE_ID}}`;
const SCOPE = 'completions.write';

const PROVIDERS: readonly ResourceProvider[] = [
  { kind: 'relay', slug: 'openai' },
  { kind: 'relay', slug: 'azure-openai' },
  { kind: 'relay', slug: 'openai-compatible' },
  // The other presets do not store responses.
  { kind: 'relay', slug: 'xai' },
  { kind: 'relay', slug: 'fireworks' },
  { kind: 'relay', slug: 'vllm' },
];

const ROUTES: readonly RelayRoute[] = [
  {
    kind: 'retrieve',
    operation: 'responses.retrieve',
    operationId: 'retrieveModelResponse',
    summary: 'Retrieves a stored response, or its events.',
    path: PATH,
    scope: SCOPE,
    query: StoredResponseQuery,
    about: RESPONSE,
    mayStream: true,
  },
  {
    kind: 'items',
    operation: 'responses.input_items.list',
    operationId: 'listResponseInputItems',
    summary: 'Lists the input of a stored response.',
    path: `${PATH}/input_items`,
    scope: SCOPE,
    query: ResponseInputQuery,
    about: RESPONSE,
  },
  {
    kind: 'action',
    operation: 'responses.cancel',
    operationId: 'cancelModelResponse',
    summary: 'Cancels a response that is made in the background.',
    path: `${PATH}/cancel`,
    scope: SCOPE,
    about: RESPONSE,
  },
  {
    kind: 'delete',
    operation: 'responses.delete',
    operationId: 'deleteModelResponse',
    summary: 'Deletes a stored response.',
    path: PATH,
    scope: SCOPE,
    about: RESPONSE,
    deletes: { idParam: RESPONSE_ID, object: 'response' },
  },
];

export const STORED_RESPONSES: ResourceArea = { tag: 'Inference', routes: ROUTES, providers: PROVIDERS };
