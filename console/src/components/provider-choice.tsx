import type { useListSearch } from '../lib/list-search';
import { PROVIDERS } from '../lib/providers';
import { Choose } from './list-tools';

const CHOICES = { '': 'All providers', ...PROVIDERS };

/** Chooses the provider whose part of a list is shown. */
export function ProviderChoice({ list }: { readonly list: ReturnType<typeof useListSearch> }) {
  return <Choose label="Provider" value={list.provider ?? ''} options={CHOICES} onChoose={list.onProvider} />;
}
