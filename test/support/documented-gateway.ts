import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GatewayClient } from './gateway-client.js';
import { GatewayProcess } from './gateway-process.js';
import { ApiDocument } from './openapi.js';
import { makeOwnDatabase } from './own-database.js';
import { databaseServer } from './services.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './test-app.js';

export interface DocumentedGateway {
  readonly url: string;
  readonly client: GatewayClient;
  readonly document: ApiDocument;
  readonly close: () => Promise<void>;
}

/**
 * The gateway as it is shipped, since a build plugin generates the schemas of its document. On a database of its own: on
 * PostgreSQL where there is one, since the first start of an embedded database takes three times as long.
 */
export async function startDocumentedGateway(
  settings: Readonly<Record<string, string>> = {},
): Promise<DocumentedGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-openapi-'));
  const database = databaseServer === undefined ? undefined : await makeOwnDatabase(databaseServer);
  const place: Readonly<Record<string, string>> =
    database === undefined
      ? { DATA_DIR: join(folder, 'data') }
      : { DATABASE_URL: database.url, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
  const REQUEST_LOG_BODIES = join(folder, 'bodies');
  const own = { REQUEST_LOG_BODIES, TOLLGATE_ADMIN_KEY: ADMIN_KEY };
  const gateway = new GatewayProcess({ ...settings, ...place, ...own }, folder);
  const url = await gateway.url();
  const client = new GatewayClient(url);
  const document = new ApiDocument(JSON.parse((await client.get('/docs/openapi.json')).text));
  const close = async (): Promise<void> => {
    await gateway.kill();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, client, document, close };
}
