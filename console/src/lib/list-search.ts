import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { z } from 'zod';
import { PAGE_SIZE } from '../components/table';

/** What the address of a list keeps, so that a link shows the same list. Odd values count as absent. */
export const listSearch = z.object({
  search: z.string().min(1).max(200).optional().catch(undefined),
  /** One of the views of the page. */
  view: z.string().min(1).max(32).optional().catch(undefined),
  provider: z.string().min(1).max(32).optional().catch(undefined),
  status: z.string().min(1).max(32).optional().catch(undefined),
  /** What kind of thing it is about: a type of event, or of resource. */
  kind: z.string().min(1).max(64).optional().catch(undefined),
  /** Of a log: the entry before the page. */
  after: z.uuid().optional().catch(undefined),
  page: z.number().int().min(0).max(1_000_000).optional().catch(undefined),
});
export type ListSearch = z.infer<typeof listSearch>;

/** The search of this list, and how to change it. A change of the search begins at the first page. */
export function useListSearch() {
  const { search, status, kind, view, provider, after, page = 0 }: ListSearch = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (next: ListSearch, replace = true) =>
      void navigate({
        to: '.',
        replace,
        search: (previous: ListSearch) => ({ ...previous, after: undefined, ...next }),
      }),
    [navigate],
  );
  return {
    search,
    status,
    kind,
    view,
    provider,
    page,
    after,
    /** The page of a log as the gateway's query has it. A long log is not counted. */
    logPaging: {
      page_size: PAGE_SIZE,
      include_total: 'false' as const,
      ...(search !== undefined && { search }),
      ...(after !== undefined && { after }),
    },
    /** The page as the gateway's query has it. */
    paging: { current_page: page, page_size: PAGE_SIZE, ...(search !== undefined && { search }) },
    onSearch: useCallback(
      (text: string) => change({ search: text.trim() === '' ? undefined : text.trim(), page: undefined }),
      [change],
    ),
    onStatus: useCallback(
      (next: string) => change({ status: next === '' ? undefined : next, page: undefined }),
      [change],
    ),
    onProvider: useCallback(
      (next: string) => change({ provider: next === '' ? undefined : next, page: undefined }),
      [change],
    ),
    onKind: useCallback((next: string) => change({ kind: next === '' ? undefined : next, page: undefined }), [change]),
    onAfter: useCallback((next: string | undefined) => change({ after: next }, false), [change]),
    onPage: useCallback((next: number) => change({ page: next === 0 ? undefined : next }), [change]),
  };
}
