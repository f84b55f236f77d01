// The files that batches read and write. Source: https://platform.openai.com/docs/api-reference/files, read 2026-11-21.
import type { RelayRoute } from '../gateway/relay/relay-route.js';
import { FilesQuery } from './dto/files.query.js';
import { DeletedResponse, FileListResponse, FileResponse } from './file.response.js';

const FILE = { kind: 'file', name: 'file_id' } as const;

export const FILE_ROUTES: readonly RelayRoute[] = [
  {
    operation: 'files.list',
    operationId: 'listFiles',
    summary: 'Lists files.',
    method: 'GET',
    path: '/files',
    scope: 'batches.list',
    reads: 'list',
    query: FilesQuery,
    response: FileListResponse,
    lists: 'file',
  },
  {
    operation: 'files.create',
    operationId: 'createFile',
    summary: 'Uploads a file. The upload is streamed to the provider, whatever its size.',
    method: 'POST',
    path: '/files',
    scope: 'batches.create',
    body: 'stream',
    response: FileResponse,
    creates: { kind: 'file', idField: 'id' },
  },
  {
    operation: 'files.retrieve',
    operationId: 'retrieveFile',
    summary: 'Retrieves the metadata of a file.',
    method: 'GET',
    path: '/files/{file_id}',
    scope: 'batches.read',
    reads: 'object',
    response: FileResponse,
    about: FILE,
  },
  {
    operation: 'files.content',
    operationId: 'downloadFile',
    summary: 'Downloads a file. The download is streamed from the provider.',
    method: 'GET',
    path: '/files/{file_id}/content',
    scope: 'batches.read',
    answer: 'bytes',
    about: FILE,
  },
  {
    operation: 'files.delete',
    operationId: 'deleteFile',
    summary: 'Deletes a file.',
    method: 'DELETE',
    path: '/files/{file_id}',
    scope: 'batches.delete',
    response: DeletedResponse,
    deletes: { idParam: 'file_id', object: 'file' },
    about: FILE,
  },
];
