// Uploads of large files in parts. Source: https://platform.openai.com/docs/api-reference/uploads, read 2026-11-21.
import type { RelayRoute } from '../gateway/relay/relay-route.js';

const UPLOAD = { kind: 'upload', name: 'upload_id' } as const;
const ONE_UPLOAD = '/uploads/{upload_id}';

export const UPLOAD_ROUTES: readonly RelayRoute[] = [
  {
    kind: 'create',
    operation: 'uploads.create',
    operationId: 'createUpload',
    summary: 'Starts the upload of a file in parts.',
    path: '/uploads',
    scope: 'batches.create',
    creates: { kind: 'upload', idField: 'id' },
  },
  {
    kind: 'upload',
    operation: 'uploads.parts.create',
    operationId: 'addUploadPart',
    summary: 'Adds a part to an upload. The part is streamed to the provider.',
    path: `${ONE_UPLOAD}/parts`,
    scope: 'batches.create',
    about: UPLOAD,
    creates: { kind: 'upload_part', idField: 'id' },
  },
  {
    kind: 'action',
    operation: 'uploads.complete',
    operationId: 'completeUpload',
    summary: 'Makes a file of the parts of an upload.',
    path: `${ONE_UPLOAD}/complete`,
    scope: 'batches.create',
    about: UPLOAD,
    uses: [{ kind: 'upload_part', name: 'part_ids' }],
    produces: [{ kind: 'file', name: 'file' }],
  },
  {
    kind: 'action',
    operation: 'uploads.cancel',
    operationId: 'cancelUpload',
    summary: 'Cancels an upload.',
    path: `${ONE_UPLOAD}/cancel`,
    scope: 'batches.create',
    about: UPLOAD,
  },
];
