import { useQuery } from '@tanstack/react-query';
import { listApiKeysOptions } from '../api/@tanstack/react-query.gen';
import { useLogin } from './login-context';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const STALE_MS = 60_000;

/** Puts names in the place of ids in a text: of the newest hundred keys, and of workspaces. Other ids stay. */
export function useNames(): (text: string) => string {
  const { caller, may } = useLogin();
  const keys = useQuery({
    ...listApiKeysOptions({ query: { page_size: 100 } }),
    enabled: may('api_keys.list'),
    staleTime: STALE_MS,
  });
  const names = new Map([...(keys.data?.data ?? []), ...caller.workspaces].map(({ id, name }) => [id, name]));
  return (text) => text.replace(UUID, (id) => names.get(id) ?? id);
}
