import { formatDecimal } from '../../src/common/money/decimal.js';
import { PRICE_DECIMALS } from '../../src/usage/prices/price.types.js';
import { formatTable } from '../../src/usage/snapshot/table.js';
import type { Compared, Difference } from './compare.js';

/** For a person, one line each: what is in neither table until someone decides. */
export function formatDifferences(differences: readonly Difference[]): string {
  const names = ['provider', 'model', 'price', 'what', 'models.dev', 'genai-prices'];
  return formatTable(
    names,
    differences.map(({ provider, model, price, detail, what, modelsDev, genaiPrices }) => {
      return [provider, model, detail ?? price, what, amount(modelsDev), amount(genaiPrices)];
    }),
  );
}

/** Of one provider, in one line. */
export function summaryOf(provider: string, { agreed, differences }: Compared): string {
  const modelsWith = (fits: (difference: Difference) => boolean): number =>
    new Set(differences.filter(fits).map(({ model }) => model)).size;
  const rows = agreed.reduce((sum, { prices }) => sum + prices.length, 0);
  const priced = new Set(agreed.map(({ model }) => model));
  return [
    `${provider}: ${agreed.length} models with ${rows} prices`,
    `${modelsWith(({ price }) => price !== '')} differ`,
    `${modelsWith(({ what, model }) => what === 'not understood' && !priced.has(model))} not understood`,
    `${modelsWith(({ what, price }) => what === 'only in models.dev' && price === '')} only in models.dev`,
    `${modelsWith(({ what, price }) => what === 'only in genai-prices' && price === '')} only in genai-prices`,
  ].join(', ');
}

function amount(price: bigint | undefined): string {
  return price === undefined ? '' : formatDecimal(price, PRICE_DECIMALS);
}
