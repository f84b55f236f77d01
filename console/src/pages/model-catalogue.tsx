import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { listCatalogueModelsOptions } from '../api/@tanstack/react-query.gen';
import type { CatalogueModel } from '../api/types.gen';
import { ListChoice, FILTERS_LOOK } from '../components/list-tools';
import { SearchBox } from '../components/page';
import { ProviderChoice } from '../components/provider-choice';
import { SourceNote } from '../components/source-note';
import { type Column, Table } from '../components/table';
import { Card } from '../components/ui/card';
import { counted, short } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { isPricedUnit, priceInWords, UNITS } from '../lib/price';
import { isProvider, providerName } from '../lib/providers';

const READS = {
  '': 'Reads anything',
  image: 'Reads images',
  audio: 'Reads audio',
  video: 'Reads video',
  pdf: 'Reads PDF',
} as const;
type Modality = Exclude<keyof typeof READS, ''>;

/** The models that the gateway knows, with what they cost this organisation. */
export function ModelCatalogue() {
  const list = useListSearch();
  const filters = {
    ...(isProvider(list.provider) && { provider: list.provider }),
    ...(isModality(list.status) && { input_modality: list.status }),
  };
  const models = useQuery({
    ...listCatalogueModelsOptions({ query: { ...list.paging, ...filters } }),
    placeholderData: (previous) => previous,
  });
  return (
    <>
      <div className={FILTERS_LOOK}>
        <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
        <ProviderChoice list={list} />
        <ListChoice list={list} label="What the model reads" value={list.status ?? ''} options={READS} />
      </div>
      <Card>
        <Table
          caption="Catalogue of models"
          columns={COLUMNS}
          query={models}
          keyOf={({ provider, model }) => `${provider} ${model}`}
          empty="No such model in the catalogue. Calls may name it all the same; limits on cost need a price of it."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/model-catalogue', query: { search: list.search, ...filters } }}
        />
      </Card>
    </>
  );
}

const COLUMNS: readonly Column<CatalogueModel>[] = [
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
    title: 'Context',
    kind: 'short',
    align: 'right',
    cell: ({ context_window: window }) => <span title={counted(window, 'token')}>{short(window)}</span>,
  },
  {
    title: 'Longest output',
    kind: 'short',
    align: 'right',
    isExtra: 'wide',
    cell: ({ max_output_tokens: most }) =>
      most === 0 ? <span className="text-muted">none</span> : <span title={counted(most, 'token')}>{short(most)}</span>,
  },
  {
    title: 'Reads',
    isExtra: true,
    cell: ({ input_modalities: reads }) => reads.join(', '),
  },
  {
    title: 'Writes',
    isExtra: 'wide',
    cell: ({ output_modalities: writes }) => writes.join(', ') || <span className="text-muted">nothing</span>,
  },
  { title: 'Price', kind: 'name', cell: (model) => <PricesOf model={model} /> },
  {
    title: 'Source',
    isExtra: 'wide',
    cell: ({ source, read_on: day }) => (
      <>
        <SourceNote source={source} />
        <p className="text-xs whitespace-nowrap text-muted">{day}</p>
      </>
    ),
  },
];

/** The units that nearly every model is sold by come first; the others are one click away. */
const MAIN_UNITS = 2;
const ORDER = Object.keys(UNITS);

function PricesOf({ model: { model, provider, prices } }: { readonly model: CatalogueModel }) {
  if (prices.length === 0) return <span className="text-warn">no price</span>;
  const sorted = prices.toSorted((one, other) => ORDER.indexOf(one.unit) - ORDER.indexOf(other.unit));
  return (
    <div className="text-xs">
      {sorted.slice(0, MAIN_UNITS).map(({ price_id: id, unit, price }) => (
        <p key={id}>
          <span className="text-muted">{isPricedUnit(unit) ? UNITS[unit] : unit}:</span>{' '}
          <span className="whitespace-nowrap tabular-nums">{priceInWords(unit, price)}</span>
        </p>
      ))}
      <Link to="/models" search={{ view: 'prices', search: model, provider }} className="text-accent hover:underline">
        All prices<span className="sr-only"> of {model}</span>
      </Link>
    </div>
  );
}

function isModality(text: string | undefined): text is Modality {
  return text !== undefined && text !== '' && text in READS;
}
