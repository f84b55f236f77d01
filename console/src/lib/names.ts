import { useQueries } from '@tanstack/react-query';
import { listApiKeys, listWorkspaces } from '../api/sdk.gen';
import { useLogin } from './login-context';
import type { LoggedIn } from './session';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const STALE_MS = 60_000;
/** As many ids as a list looks up at once. */
const MAX_IDS = 100;

type Names = ReadonlyMap<string, string>;

/** Puts names in the place of the ids in these texts: of keys and workspaces. Other ids stay. */
export function useNames(texts: readonly string[]): (text: string) => string {
  const login = useLogin();
  const known = new Map(login.caller.workspaces.map(({ id, name }) => [id, name]));
  const ids = [...new Set(texts.flatMap((text) => text.match(UUID) ?? []))].filter((id) => !known.has(id));
  const found = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['name', login.sessionId, id],
      queryFn: () => nameOf(id, login),
      staleTime: STALE_MS,
    })),
  });
  const names = new Map(ids.map((id, at) => [id, found[at]?.data]));
  return (text) => text.replace(UUID, (id) => known.get(id) ?? names.get(id) ?? id);
}

interface Batch {
  readonly ids: string[];
  readonly names: Promise<Names>;
}

/** What is looked up next, apart for each log-in: the next one may see other names. */
const batches = new WeakMap<LoggedIn, Batch>();

/** Everything on a page asks for its names at the same time, and is answered by one request to each list. */
async function nameOf(id: string, login: LoggedIn): Promise<string | null> {
  const batch = batches.get(login) ?? newBatch(login);
  batch.ids.push(id);
  return (await batch.names).get(id) ?? null;
}

function newBatch(login: LoggedIn): Batch {
  const ids: string[] = [];
  const names = new Promise((resolve) => setTimeout(resolve)).then(() => {
    batches.delete(login);
    return readNames(ids, login.may);
  });
  const batch = { ids, names };
  batches.set(login, batch);
  return batch;
}

async function readNames(ids: readonly string[], may: LoggedIn['may']): Promise<Names> {
  const pages: ReturnType<typeof namesIn>[] = [];
  for (let at = 0; at < ids.length; at += MAX_IDS) pages.push(namesIn(ids.slice(at, at + MAX_IDS), may));
  return new Map((await Promise.all(pages)).flat());
}

async function namesIn(ids: readonly string[], may: LoggedIn['may']): Promise<readonly (readonly [string, string])[]> {
  const look = { query: { ids: ids.join(','), page_size: MAX_IDS }, throwOnError: true } as const;
  const answers = await Promise.all([
    ...(may('api_keys.list') ? [listApiKeys(look)] : []),
    ...(may('workspaces.list') ? [listWorkspaces(look)] : []),
  ]);
  return answers.flatMap(({ data }) => data.data.map(({ id, name }) => [id, name] as const));
}
