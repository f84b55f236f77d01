import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BodyKey, type BodyStore, isDay } from './body-store.js';

const NOT_THERE = 'ENOENT';

/** One file a call, readable by the gateway's user alone: `<folder>/<day>/<organisation>/<id>`. */
export class FolderBodyStore implements BodyStore {
  constructor(private readonly folder: string) {}

  async put(key: BodyKey, sealed: string): Promise<void> {
    const path = this.pathOf(key);
    // Readers see the whole of it, or nothing.
    const unfinished = `${path}.part`;
    const write = (): Promise<void> => writeFile(unfinished, sealed, { mode: 0o600 });
    // The first of a day makes the folder.
    await write().catch(async (error: unknown) => {
      undefinedIfAbsent(error);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await write();
    });
    await rename(unfinished, path);
  }

  async get(key: BodyKey): Promise<string | undefined> {
    return readFile(this.pathOf(key), 'latin1').catch(undefinedIfAbsent);
  }

  async days(): Promise<readonly string[]> {
    const names = (await readdir(this.folder).catch(undefinedIfAbsent)) ?? [];
    return names.filter(isDay);
  }

  async deleteDay(day: string): Promise<void> {
    await rm(join(this.folder, day), { recursive: true, force: true });
  }

  async close(): Promise<void> {}

  private pathOf({ day, organisationId, id }: BodyKey): string {
    return join(this.folder, day, organisationId, id);
  }
}

function undefinedIfAbsent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === NOT_THERE) return undefined;
  throw error;
}
