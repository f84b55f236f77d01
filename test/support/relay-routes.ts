import { ASSISTANTS_ROUTES } from '../../src/assistants/assistants.routes.js';
import { VECTOR_STORE_ROUTES } from '../../src/assistants/vector-store.routes.js';
import { BATCH_ROUTES } from '../../src/batches/batch.routes.js';
import { FILE_ROUTES } from '../../src/batches/file.routes.js';
import { UPLOAD_ROUTES } from '../../src/batches/upload.routes.js';
import { FINE_TUNING_ROUTES } from '../../src/fine-tuning/fine-tuning.routes.js';
import { STORED_RESPONSES } from '../../src/inference/response.routes.js';

/** All routes that relay what is not metered. */
export const RELAY_ROUTES = [
  ...BATCH_ROUTES,
  ...FILE_ROUTES,
  ...UPLOAD_ROUTES,
  ...FINE_TUNING_ROUTES,
  ...ASSISTANTS_ROUTES,
  ...VECTOR_STORE_ROUTES,
  ...STORED_RESPONSES.routes,
];
