import type { useListSearch } from '../lib/list-search';
import { PROVIDERS } from '../lib/providers';
import { Select } from './ui/field';

/** Chooses the provider whose part of a list is shown. */
export function ProviderChoice({ list }: { readonly list: ReturnType<typeof useListSearch> }) {
  return (
    <Select
      aria-label="Provider"
      className="sm:w-56"
      value={list.provider ?? ''}
      onChange={({ target }) => list.onProvider(target.value)}
    >
      <option value="">All providers</option>
      {Object.entries(PROVIDERS).map(([slug, name]) => (
        <option key={slug} value={slug}>
          {name}
        </option>
      ))}
    </Select>
  );
}
