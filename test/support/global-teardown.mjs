import { rmSync } from 'node:fs';

export default async function globalTeardown() {
  for (const { worker, socketDir } of globalThis.tollgateTestDatabases ?? []) {
    await worker.terminate();
    rmSync(socketDir, { recursive: true, force: true });
  }
}
