// The batches area of the OpenAI API. Source: https://platform.openai.com/docs/api-reference/batch, read 2026-11-21.
import { CursorQuery } from '../common/pagination/cursor.query.js';
import type { RelayRoute } from '../gateway/relay/relay-route.js';
import { BatchListResponse, BatchResponse } from './batch.response.js';

const BATCH = { kind: 'batch', name: 'batch_id' } as const;
const RESULTS = [
  { kind: 'file', name: 'output_file_id' },
  { kind: 'file', name: 'error_file_id' },
] as const;

export const BATCH_ROUTES: readonly RelayRoute[] = [
  {
    kind: 'list',
    operation: 'batches.list',
    operationId: 'listBatches',
    summary: 'Lists batches, newest first.',
    path: '/batches',
    scope: 'batches.list',
    query: CursorQuery,
    response: BatchListResponse,
    lists: 'batch',
    produces: RESULTS,
  },
  {
    kind: 'create',
    operation: 'batches.create',
    spends: true,
    startsJob: true,
    models: 'elsewhere',
    operationId: 'createBatch',
    summary: 'Creates a batch from an uploaded file.',
    path: '/batches',
    scope: 'batches.create',
    response: BatchResponse,
    creates: { kind: 'batch', idField: 'id' },
    uses: [{ kind: 'file', name: 'input_file_id' }],
  },
  {
    kind: 'retrieve',
    operation: 'batches.retrieve',
    operationId: 'retrieveBatch',
    summary: 'Retrieves a batch.',
    path: '/batches/{batch_id}',
    scope: 'batches.read',
    response: BatchResponse,
    about: BATCH,
    produces: RESULTS,
  },
  {
    kind: 'action',
    operation: 'batches.cancel',
    operationId: 'cancelBatch',
    summary: 'Cancels a batch that is in progress.',
    path: '/batches/{batch_id}/cancel',
    scope: 'batches.update',
    response: BatchResponse,
    about: BATCH,
    produces: RESULTS,
  },
  {
    kind: 'download',
    operation: 'batches.output',
    operationId: 'downloadBatchOutput',
    summary: 'Downloads the output of a batch: the content of its output file, or 404 before there is one.',
    path: '/batches/{batch_id}/output',
    scope: 'batches.read',
    about: BATCH,
    file: { objectPath: '/batches/{batch_id}', field: 'output_file_id' },
  },
];
