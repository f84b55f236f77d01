import type { useListSearch } from '../lib/list-search';
import { SearchBox } from './page';
import { Select } from './ui/field';

type List = ReturnType<typeof useListSearch>;

interface Choice {
  /** What the choice is about, for screen readers. */
  readonly label: string;
  readonly value: string;
  /** Words by value. */
  readonly options: Readonly<Record<string, string>>;
}

/** What stands above a list: its search and one choice. */
export function ListTools({ list, ...choice }: Choice & { readonly list: List }) {
  return (
    <div className="flex flex-wrap gap-2">
      <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
      <ListChoice list={list} {...choice} />
    </div>
  );
}

/** Chooses the status that a list shows. */
export function ListChoice({ list, label, value, options }: Choice & { readonly list: List }) {
  return (
    <Select aria-label={label} className="sm:w-44" value={value} onChange={({ target }) => list.onStatus(target.value)}>
      {Object.entries(options).map(([option, words]) => (
        <option key={option} value={option}>
          {words}
        </option>
      ))}
    </Select>
  );
}
