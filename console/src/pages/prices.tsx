import { useQuery } from '@tanstack/react-query';
import { listPricesOptions } from '../api/@tanstack/react-query.gen';
import type { Price } from '../api/types.gen';
import { FILTERS_LOOK } from '../components/list-tools';
import { SearchBox } from '../components/page';
import { ProviderChoice } from '../components/provider-choice';
import { SourceNote } from '../components/source-note';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Card } from '../components/ui/card';
import { counted, dateTime, day } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { isPricedUnit, priceInWords, UNITS } from '../lib/price';
import { isProvider, providerName } from '../lib/providers';

/** The organisation's own prices, then the operator's, then the built-in ones. */
export function Prices() {
  const list = useListSearch();
  const filters = isProvider(list.provider) ? { provider: list.provider } : {};
  const prices = useQuery({
    ...listPricesOptions({ query: { ...list.paging, ...filters } }),
    placeholderData: (previous) => previous,
  });
  return (
    <>
      <div className={FILTERS_LOOK}>
        <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
        <ProviderChoice list={list} />
      </div>
      <Card>
        <Table
          caption="Prices"
          columns={COLUMNS}
          query={prices}
          keyOf={({ id }) => id}
          empty="No such price. Strict limits on cost refuse calls of models without one."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/prices', query: { search: list.search, ...filters } }}
        />
      </Card>
    </>
  );
}

const COLUMNS: readonly Column<Price>[] = [
  {
    title: 'Model',
    cell: ({ provider, model }) => (
      <>
        <span className="font-mono text-xs wrap-anywhere">{model}</span>
        <p className="text-xs text-muted">{providerName(provider)}</p>
      </>
    ),
  },
  {
    title: 'For',
    cell: ({ unit, mode, min_input_tokens: tier }) => (
      <>
        {isPricedUnit(unit) ? UNITS[unit] : unit}
        {(mode !== 'standard' || tier > 0) && (
          <p className="text-xs text-muted">
            {[mode !== 'standard' && `mode ${mode}`, tier > 0 && `from ${counted(tier, 'input token')}`]
              .filter(Boolean)
              .join(', ')}
          </p>
        )}
      </>
    ),
  },
  { title: 'Price', kind: 'short', align: 'right', cell: ({ unit, price }) => priceInWords(unit, price) },
  {
    title: 'Since',
    kind: 'short',
    isExtra: true,
    cell: ({ effective_from: from }) => <span title={dateTime(from)}>{day(from)}</span>,
  },
  {
    title: 'From',
    cell: ({ organisation_id: owner, created_at: at, source }) => (
      <>
        {owner !== null && <Badge tone="good">your own</Badge>}
        {owner === null && at !== null && <Badge>the operator's</Badge>}
        {source !== 'api' && <SourceNote source={source} />}
      </>
    ),
  },
];
