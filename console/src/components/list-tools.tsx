import type { ReactNode } from 'react';
import type { useListSearch } from '../lib/list-search';
import { SearchBox } from './page';
import { Select } from './ui/field';

type List = ReturnType<typeof useListSearch>;

/** Where the search and the filters of a list stand: side by side in a narrow window too. */
export const FILTERS_LOOK = 'grid grid-cols-2 gap-2 sm:flex sm:flex-wrap';

interface Choice {
  /** What the choice is about, for screen readers. */
  readonly label: string;
  readonly value: string;
  /** Words by value. */
  readonly options: Readonly<Record<string, string>>;
}

/** What stands above a list: its search, one choice, and more of them. */
export function ListTools({
  list,
  children,
  ...choice
}: Choice & { readonly list: List; readonly children?: ReactNode }) {
  return (
    <div className={FILTERS_LOOK}>
      <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
      <ListChoice list={list} {...choice} />
      {children}
    </div>
  );
}

/** Chooses the status that a list shows. */
export function ListChoice({ list, ...choice }: Choice & { readonly list: List }) {
  return <Choose onChoose={list.onStatus} {...choice} />;
}

/** One choice of what a list shows. */
export function Choose({ label, value, options, onChoose }: Choice & { readonly onChoose: (value: string) => void }) {
  return (
    <Select aria-label={label} className="sm:w-42" value={value} onChange={({ target }) => onChoose(target.value)}>
      {Object.entries(options).map(([option, words]) => (
        <option key={option} value={option}>
          {words}
        </option>
      ))}
    </Select>
  );
}
