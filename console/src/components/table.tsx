import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { cn } from '../lib/cn';
import { whole } from '../lib/format';
import type { Failure } from '../lib/session';
import { CsvButton, type CsvSource } from './csv-button';
import { Empty, ErrorNote, Loading } from './states';
import { Button } from './ui/button';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'right';
  /** Only where there is room. */
  readonly isExtra?: boolean;
}

export const PAGE_SIZE = 50;

interface TableProps<Row> {
  /** Names the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly query: UseQueryResult<{ readonly data: readonly Row[]; readonly total: number }, Failure>;
  readonly keyOf: (row: Row) => string;
  readonly empty: ReactNode;
  /** From 0. */
  readonly page: number;
  readonly onPage: (page: number) => void;
  /** Where all of it can be downloaded. */
  readonly csv?: CsvSource;
}

/** One page of a list of the gateway, with the states of loading, failure and nothing there. */
export function Table<Row>({ caption, columns, query, keyOf, empty, page, onPage, csv }: TableProps<Row>) {
  if (query.isPending) return <Loading />;
  if (query.isLoadingError) return <ErrorNote error={query.error} onRetry={() => void query.refetch()} />;
  const { data: rows, total } = query.data;
  if (rows.length === 0 && page === 0) return <Empty>{empty}</Empty>;
  return (
    <>
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={caption}>
        <table className="w-full text-left">
          <caption className="sr-only">{caption}</caption>
          <thead className="text-xs text-muted">
            <tr>
              {columns.map((column) => (
                <th key={column.title} scope="col" className={cn('px-4 py-2 font-medium', classOf(column))}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)} className="border-t border-line hover:bg-raised">
                {columns.map((column) => (
                  <td key={column.title} className={cn('px-4 py-2 align-top', classOf(column))}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <footer className="flex flex-wrap items-center justify-end gap-3 border-t border-line px-4 py-2 empty:hidden">
        {csv !== undefined && <CsvButton {...csv} />}
        <Pages total={total} page={page} onPage={onPage} />
      </footer>
    </>
  );
}

function classOf({ align, isExtra }: Pick<Column<unknown>, 'align' | 'isExtra'>): string {
  return cn(align === 'right' && 'text-right tabular-nums', isExtra && 'hidden lg:table-cell');
}

function Pages({ total, page, onPage }: { total: number; page: number; onPage: (page: number) => void }) {
  const last = Math.max(0, Math.ceil(total / PAGE_SIZE) - 1);
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
