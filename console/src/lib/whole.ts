import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import {
  listApiKeys,
  listMcpServers,
  listModelRoutes,
  listSecretReferences,
  listVirtualKeys,
  listWorkspaces,
} from '../api/sdk.gen';
import type { Caller } from '../api/types.gen';
import { useLogin } from './login-context';
import type { Failure } from './session';

const PAGE_SIZE = 100;
/** More rows are a job for a program. */
const MAX_PAGES = 100;
/** As many workspaces as `GET /v1/me` names at most. */
const MAX_NAMED = 100;

/** The oldest first: what is made meanwhile comes at the end. */
interface Paging {
  readonly current_page: number;
  readonly page_size: number;
  readonly sort: 'created_at';
}
interface Page<Row> {
  readonly data: { readonly data: readonly Row[]; readonly total: number };
}

/** All rows of a list, not those of its first page alone. @param name of the list, unique */
function useWhole<Row>(
  name: string,
  read: (paging: Paging) => Promise<Page<Row>>,
  isAllowed: boolean,
): UseQueryResult<readonly Row[], Failure> {
  return useQuery({
    queryKey: ['whole list', name],
    enabled: isAllowed,
    queryFn: async () => {
      const rows: Row[] = [];
      let total = 1;
      for (let page = 0; page < MAX_PAGES && page * PAGE_SIZE < total; page += 1) {
        const { data } = await read({ current_page: page, page_size: PAGE_SIZE, sort: 'created_at' });
        rows.push(...data.data);
        total = data.total;
      }
      return rows;
    },
  });
}

export function useApiKeys(isNeeded = true) {
  const { may } = useLogin();
  const read = (query: Paging) => listApiKeys({ query, throwOnError: true });
  return useWhole('API keys', read, isNeeded && may('api_keys.list'));
}

export function useVirtualKeys(isNeeded = true) {
  const { may } = useLogin();
  const read = (query: Paging) => listVirtualKeys({ query, throwOnError: true });
  return useWhole('virtual keys', read, isNeeded && may('virtual_keys.list'));
}

export function useMcpServers() {
  const { may } = useLogin();
  return useWhole('MCP servers', (query) => listMcpServers({ query, throwOnError: true }), may('mcp_servers.list'));
}

export function useModelRoutes() {
  const { may } = useLogin();
  return useWhole('model routes', (query) => listModelRoutes({ query, throwOnError: true }), may('model_routes.list'));
}

export function useSecretReferences(isAllowed: boolean) {
  return useWhole('secret references', (query) => listSecretReferences({ query, throwOnError: true }), isAllowed);
}

/** The workspaces that the caller may choose; `hasMore`: there may be others, which it may not list. */
export function useWorkspaces(): { readonly workspaces: Caller['workspaces']; readonly hasMore: boolean } {
  const { caller, may } = useLogin();
  const isCut = caller.workspaces.length >= MAX_NAMED;
  const mayList = may('workspaces.list');
  const whole = useWhole('workspaces', (query) => listWorkspaces({ query, throwOnError: true }), isCut && mayList);
  return {
    workspaces: whole.data?.map(({ id, name, slug }) => ({ id, name, slug })) ?? caller.workspaces,
    hasMore: isCut && !mayList,
  };
}
