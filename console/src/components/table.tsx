import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { cn } from '../lib/cn';
import { counted, whole } from '../lib/format';
import { useKeptFocus } from '../lib/kept-focus';
import { PAGE_SIZE } from '../lib/list-search';
import type { Failure } from '../lib/session';
import { CsvButton, type CsvSource } from './csv-button';
import { Empty, ErrorNote, Loading } from './states';
import { Button } from './ui/button';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'right';
  /** Not in tables of middle width; `wide`: in wide tables only. Rows that are blocks show everything. */
  readonly isExtra?: boolean | 'wide';
  /** `name`: has room for long names, as the first column does. `short`: stays on one line. */
  readonly kind?: 'name' | 'short';
}

/** Which page is shown: by its number, or in a log by the entry before it, since entries are added all the time. */
type Paging =
  | {
      /** From 0. */
      readonly page: number;
      /** @param replace whether the button "Back" of the browser skips the page that is left */
      readonly onPage: (page: number, replace?: boolean) => void;
    }
  | { readonly after: string | undefined; readonly onAfter: (id: string | undefined) => void };

interface ListOf<Row> {
  readonly data: readonly Row[];
  readonly total: number | null;
  readonly has_more?: boolean;
}

type TableProps<Row> = Paging & {
  /** Names the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly query: UseQueryResult<ListOf<Row>, Failure>;
  readonly keyOf: (row: Row) => string;
  readonly empty: ReactNode;
  /** Where all of it can be downloaded. */
  readonly csv?: CsvSource;
};

/** One page of a list of the gateway, with the states of loading, failure and nothing there. */
export function Table<Row>(props: TableProps<Row>) {
  const box = useKeptFocus();
  const { query } = props;
  const isBehind = 'page' in props && props.page > 0 && !query.isPlaceholderData && query.data?.data.length === 0;
  // Its rows were deleted, or the link is old.
  useEffect(() => {
    if (isBehind) props.onPage(lastPageOf(query.data?.total), true);
  }, [isBehind]);
  return (
    <div {...box}>
      <Found {...props} />
      <Rows {...props} />
    </div>
  );
}

/** Lets screen readers say what a search or another page has found, and not what a refresh has. */
function Found<Row>({ caption, query, ...paging }: TableProps<Row>) {
  const [words, setWords] = useState('');
  const isNew = !query.isPending && !query.isPlaceholderData;
  const place = 'page' in paging ? paging.page : paging.after;
  useEffect(() => {
    if (isNew && query.data !== undefined) setWords(`${caption}: ${foundInWords(query.data)}.`);
  }, [isNew, place]);
  return (
    <p role="status" className="sr-only">
      {words}
    </p>
  );
}

function foundInWords({ data, total }: ListOf<unknown>): string {
  if (data.length === 0) return 'nothing found';
  const rows = counted(data.length, 'row');
  return total === null || total === data.length ? rows : `${rows} of ${whole(total)}`;
}

function Rows<Row>({ caption, columns, query, keyOf, empty, csv, ...paging }: TableProps<Row>) {
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />;
  const { data: rows, total, has_more: hasMore = false } = query.data;
  const isFirst = 'page' in paging ? paging.page === 0 : paging.after === undefined;
  const last = rows.at(-1);
  if (rows.length === 0 && isFirst) return <Empty>{empty}</Empty>;
  return (
    <>
      {/* The rows of another search or page stay until those of this one are there. */}
      <div
        className="overflow-x-auto aria-busy:opacity-60"
        tabIndex={0}
        role="region"
        aria-label={caption}
        aria-busy={query.isPlaceholderData}
      >
        {/* On a narrow window each row is a block of its own. The roles keep it a table for screen readers. */}
        <table role="table" className="w-full text-left max-md:block">
          <caption className="sr-only">{caption}</caption>
          <thead role="rowgroup" className="text-xs text-muted max-md:sr-only">
            <tr role="row">
              {columns.map((column, at) => (
                <th
                  key={column.title}
                  role="columnheader"
                  scope="col"
                  className={cn('px-4 py-2 font-medium md:max-xl:px-3', classOf(column, at), 'wrap-normal')}
                >
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup" className="max-md:block">
            {rows.map((row) => (
              <tr
                key={keyOf(row)}
                role="row"
                className="border-t border-line first:border-t-0 hover:bg-raised max-md:block max-md:py-2 md:first:border-t"
              >
                {columns.map((column, at) => (
                  <td
                    key={column.title}
                    role="cell"
                    data-title={column.title}
                    className={cn('px-4 py-1 align-top md:py-2 md:max-xl:px-3', classOf(column, at))}
                  >
                    <div className="min-w-0">{column.cell(row)}</div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <footer className="flex flex-wrap items-center justify-end gap-3 border-t border-line px-4 py-2 empty:hidden">
        {csv !== undefined && <CsvButton {...csv} />}
        {'page' in paging ? (
          <Pages total={total ?? 0} page={paging.page} onPage={paging.onPage} />
        ) : (
          <LogPages
            isFirst={isFirst}
            older={hasMore && last !== undefined ? keyOf(last) : undefined}
            onAfter={paging.onAfter}
          />
        )}
      </footer>
    </>
  );
}

/** On a narrow window: the title of the column, and beside it the cell. */
const AS_LINE =
  'max-md:grid max-md:grid-cols-[6.5rem_minmax(0,1fr)] max-md:gap-3 max-md:text-left max-md:before:text-xs max-md:before:leading-5 max-md:before:text-muted max-md:before:content-[attr(data-title)]';

function classOf({ align, isExtra, kind }: Pick<Column<unknown>, 'align' | 'isExtra' | 'kind'>, at: number): string {
  const isName = kind === 'name' || (kind === undefined && at === 0);
  return cn(
    isName ? 'wrap-anywhere md:min-w-44' : 'wrap-break-word',
    at === 0 ? 'max-md:block' : AS_LINE,
    kind === 'short' && 'md:whitespace-nowrap',
    align === 'right' && 'tabular-nums md:text-right md:whitespace-nowrap',
    isExtra === true && 'md:max-lg:hidden',
    isExtra === 'wide' && 'md:max-xl:hidden',
  );
}

interface LogPagesProps {
  readonly isFirst: boolean;
  /** The entry before the next page. */
  readonly older: string | undefined;
  readonly onAfter: (id: string | undefined) => void;
}

/** The button "Back" of the browser shows the page before. */
function LogPages({ isFirst, older, onAfter }: LogPagesProps) {
  if (isFirst && older === undefined) return null;
  return (
    <nav aria-label="Pages" className="flex items-center gap-2">
      <Button size="small" disabled={isFirst} onClick={() => onAfter(undefined)}>
        Newest
      </Button>
      <Button size="small" disabled={older === undefined} onClick={() => onAfter(older)}>
        Older
      </Button>
    </nav>
  );
}

function Pages({ total, page, onPage }: { total: number; page: number; onPage: (page: number) => void }) {
  const last = lastPageOf(total);
  if (last === 0) return null;
  return (
    <nav aria-label="Pages" className="flex items-center gap-2 text-muted">
      <span>
        {whole(page * PAGE_SIZE + 1)}–{whole(Math.min(total, (page + 1) * PAGE_SIZE))} of {whole(total)}
      </span>
      <Button size="small" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Previous
      </Button>
      <Button size="small" disabled={page >= last} onClick={() => onPage(page + 1)}>
        Next
      </Button>
    </nav>
  );
}

function lastPageOf(total: number | null | undefined): number {
  return Math.max(0, Math.ceil((total ?? 0) / PAGE_SIZE) - 1);
}
