// The files that batches read and write. Source: https://platform.openai.com/docs/api-reference/files, read 2026-11-21.
import type { RelayRoute } from '../gateway/relay/relay-route.js';
import { FilesQuery } from './dto/files.query.js';
import { DeletedResponse, FileListResponse, FileResponse } from './file.response.js';

const FILE = { kind: 'file', name: 'file_id' } as const;

export const FILE_ROUTES: readonly RelayRoute[] = [
  {
    kind: 'list',
    operation: 'files.list',
    operationId: 'listFiles',
    summary: 'Lists files.',
    path: '/files',
    scope: 'batches.list',
    query: FilesQuery,
    response: FileListResponse,
    lists: 'file',
  },
  {
    kind: 'upload',
    operation: 'files.create',
    operationId: 'createFile',
    summary: 'Uploads a file. The upload is streamed to the provider, whatever its size.',
    path: '/files',
    scope: 'batches.create',
    response: FileResponse,
    creates: { kind: 'file', idField: 'id' },
  },
  {
    kind: 'retrieve',
    operation: 'files.retrieve',
    operationId: 'retrieveFile',
    summary: 'Retrieves the metadata of a file.',
    path: '/files/{file_id}',
    scope: 'batches.read',
    response: FileResponse,
    about: FILE,
  },
  {
    kind: 'download',
    operation: 'files.content',
    operationId: 'downloadFile',
    summary: 'Downloads a file. The download is streamed from the provider.',
    path: '/files/{file_id}/content',
    scope: 'batches.read',
    about: FILE,
  },
  {
    kind: 'delete',
    operation: 'files.delete',
    operationId: 'deleteFile',
    summary: 'Deletes a file.',
    path: '/files/{file_id}',
    scope: 'batches.delete',
    response: DeletedResponse,
    deletes: { idParam: 'file_id', object: 'file' },
    about: FILE,
  },
];
