import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { z } from 'zod';

/** Rows that a list shows at once. */
export const PAGE_SIZE = 50;

/** What the address of a list keeps, so that a link shows the same list. Odd values count as absent. */
export const listSearch = z.object({
  search: z.string().min(1).max(200).optional().catch(undefined),
  /** One of the views of the page. */
  view: z.string().min(1).max(32).optional().catch(undefined),
  provider: z.string().min(1).max(32).optional().catch(undefined),
  status: z.string().min(1).max(32).optional().catch(undefined),
  /** What kind of thing it is about: a type of event, or of resource. */
  kind: z.string().min(1).max(64).optional().catch(undefined),
  workspace: z.string().min(1).max(64).optional().catch(undefined),
  model: z.string().min(1).max(255).optional().catch(undefined),
  /** How far back a log is shown; `days`: from one day to another. */
  time: z.enum(['hour', 'day', 'week', 'month', 'days']).optional().catch(undefined),
  from: z.iso.date().optional().catch(undefined),
  to: z.iso.date().optional().catch(undefined),
  /** Of a log: the entry before the page. */
  after: z.uuid().optional().catch(undefined),
  page: z.number().int().min(0).max(1_000_000).optional().catch(undefined),
});
export type ListSearch = z.infer<typeof listSearch>;
const TIMES = listSearch.pick({ time: true, from: true, to: true });
export type Times = z.infer<typeof TIMES>;

/** The search of this list, and how to change it. A change of the search begins at the first page. */
export function useListSearch() {
  const { page = 0, ...given }: ListSearch = useSearch({ strict: false });
  const { search, after } = given;
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
    ...given,
    page,
    /** The page of a log as the gateway's query has it. A long log is not counted. */
    logPaging: {
      page_size: PAGE_SIZE,
      include_total: 'false' as const,
      ...(search !== undefined && { search }),
      ...(after !== undefined && { after }),
    },
    /** The page as the gateway's query has it. */
    paging: { current_page: page, page_size: PAGE_SIZE, ...(search !== undefined && { search }) },
    onSearch: useCallback((text: string) => change({ search: orNone(text), page: undefined }), [change]),
    onModel: useCallback((next: string) => change({ model: orNone(next), page: undefined }), [change]),
    onStatus: (next: string) => change({ status: orNone(next), page: undefined }),
    onProvider: (next: string) => change({ provider: orNone(next), page: undefined }),
    onWorkspace: (next: string) => change({ workspace: orNone(next), page: undefined }),
    onKind: (next: string) => change({ kind: orNone(next), page: undefined }),
    /** What is not given stays. A value that is not a time is ignored. */
    onTime: (times: Readonly<Partial<Record<keyof Times, string>>>) =>
      change({ ...TIMES.parse(times), page: undefined }),
    onAfter: useCallback((next: string | undefined) => change({ after: next }, false), [change]),
    onPage: useCallback(
      (next: number, replace = false) => change({ page: next === 0 ? undefined : next }, replace),
      [change],
    ),
  };
}

function orNone(text: string): string | undefined {
  return text.trim() === '' ? undefined : text.trim();
}
