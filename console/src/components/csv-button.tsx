import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { cn } from '../lib/cn';
import { whole } from '../lib/format';
import { ApiError } from '../lib/session';
import { SendButton } from './ui/button';

/** Where a list is in the API, and the filters of the page. */
export interface CsvSource {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
}

const PAGE_SIZE = 100;
/** More rows are a job for a program. */
const MAX_PAGES = 100;

/** Downloads a list with its filters, as `Accept: text/csv` returns it page by page. */
export function CsvButton({ path, query = {}, label }: CsvSource & { readonly label?: string }) {
  const download = useMutation({ mutationFn: () => saveAll({ path, query }) });
  return (
    <span className="inline-flex items-center gap-2">
      <SendButton size="small" aria-label={label} sent={download} onSend={() => download.mutate()}>
        <Download aria-hidden className="size-3.5" />
        {download.isPending ? 'Reading…' : 'CSV'}
      </SendButton>
      <span role="status" className={cn('text-xs empty:hidden', download.isError ? 'text-bad' : 'text-warn')}>
        {download.error?.message ?? (download.data !== undefined && leftOut(download.data))}
      </span>
    </span>
  );
}

function leftOut(total: number): string | null {
  const most = PAGE_SIZE * MAX_PAGES;
  return total > most ? `The first ${whole(most)} of ${whole(total)} rows.` : null;
}

/** @returns how many rows the list has */
async function saveAll({ path, query }: Required<CsvSource>): Promise<number> {
  const pages: string[] = [];
  let total = 1;
  for (let page = 0; page * PAGE_SIZE < total && page < MAX_PAGES; page += 1) {
    const answer = await fetch(`${path}?${queryOf(query, page)}`, { headers: { accept: 'text/csv' } });
    if (!answer.ok) throw failed(answer.status);
    const text = await answer.text();
    // The names of the columns are in the first page.
    pages.push(page === 0 ? text : text.slice(text.indexOf('\r\n') + 2));
    total = Number(answer.headers.get('x-total-count') ?? 0);
  }
  const url = URL.createObjectURL(new Blob(pages, { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${path.split('/').at(-1) ?? 'list'}.csv`;
  link.click();
  URL.revokeObjectURL(url);
  return total;
}

function queryOf(query: NonNullable<CsvSource['query']>, page: number): URLSearchParams {
  const given = Object.entries({ ...query, current_page: page, page_size: PAGE_SIZE });
  return new URLSearchParams(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));
}

function failed(status: number): ApiError {
  const message = `The gateway answered with status ${status}.`;
  return new ApiError(status, { message, type: 'csv', code: 'csv', param: null, source: 'gateway' }, null);
}
