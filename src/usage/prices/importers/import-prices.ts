import { type DataSource, type EntityManager, IsNull, LessThanOrEqual } from 'typeorm';
import { parseWithNumbersAsText } from '../../../common/json/numbers.js';
import type { Clock } from '../../../common/time/clock.js';
import { formatDecimal } from '../../../common/money/decimal.js';
import { PriceImport } from '../price-import.entity.js';
import { PriceRow } from '../price.entity.js';
import { PRICE_DECIMALS } from '../price.types.js';
import { isInForce } from '../price-list.js';
import { bundledVisible, fromRow, type VisiblePrice } from '../visible-price.js';
import { readLiteLlmPrices } from './litellm.js';
import { readPortkeyPrices } from './portkey.js';
import type { LeftOut, ListedPrice, PriceListReader } from './price-list.reader.js';
import { compareList, type Comparison, nameOf } from './price-list-diff.js';

export const PRICE_LIST_FORMATS = ['portkey', 'litellm'] as const;
export type PriceListFormat = (typeof PRICE_LIST_FORMATS)[number];

const READERS: Readonly<Record<PriceListFormat, PriceListReader>> = {
  portkey: readPortkeyPrices,
  litellm: readLiteLlmPrices,
};
const MAX_SOURCE_LENGTH = 255;

export interface PriceListFile {
  readonly format: PriceListFormat;
  /** The file's name without folders. In some formats it names the provider. */
  readonly name: string;
  readonly text: string;
}

export interface ImportOptions {
  /** Whether to import the list in spite of objections. */
  readonly accept: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

export interface ImportOutcome extends Comparison {
  readonly leftOut: readonly LeftOut[];
  /** Whether the list was imported: always all of it or nothing. */
  readonly isWritten: boolean;
}

/**
 * Imports a public list as the operator's prices, for all organisations, where they differ from the current ones.
 * @throws Error with a message for the operator
 */
export async function importPrices(
  dataSource: DataSource,
  file: PriceListFile,
  { accept, clock }: ImportOptions,
): Promise<ImportOutcome> {
  const { prices, leftOut } = READERS[file.format](parse(file), file.name);
  const source = `${file.format}:${file.name}`.slice(0, MAX_SOURCE_LENGTH);
  return dataSource.transaction(async (manager) => {
    // Two concurrent imports would both add the new prices.
    await manager.query('LOCK TABLE "prices" IN SHARE ROW EXCLUSIVE MODE');
    // Read after the lock: an earlier time would exclude prices that another import has just added.
    const now = clock.now();
    const list = withoutRepeats(prices);
    const last = await manager.findOneBy(PriceImport, { source });
    const comparison = compareList(list, await pricesInForce(manager, now), last?.names ?? []);
    const isWritten = accept || comparison.objections.length === 0;
    if (isWritten) {
      const rows = comparison.changes.map(({ after: { price, ...after } }) => ({
        ...after,
        organisationId: null,
        price: formatDecimal(price, PRICE_DECIMALS),
        effectiveFrom: now,
        source,
        createdBy: 'prices:import',
      }));
      await manager.insert(PriceRow, rows);
      await manager.save(PriceImport, { source, names: list.map(nameOf), importedAt: now });
    }
    return { ...comparison, leftOut, isWritten };
  });
}

function parse({ name, text }: PriceListFile): unknown {
  try {
    return parseWithNumbersAsText(text);
  } catch (error) {
    throw new Error(`${name} is not JSON`, { cause: error });
  }
}

/**
 * Removes repetitions: a list may name a model with its provider and without, or in another case. The last one applies.
 */
function withoutRepeats(prices: readonly ListedPrice[]): readonly ListedPrice[] {
  return [...new Map(prices.map((price) => [`${price.provider} ${price.model}`, price])).values()];
}

/** For each model and unit, the price that applies to an organisation without its own prices. */
async function pricesInForce(manager: EntityManager, now: Date): Promise<readonly VisiblePrice[]> {
  const rows = await manager.find(PriceRow, {
    where: { organisationId: IsNull(), effectiveFrom: LessThanOrEqual(now) },
    order: { effectiveFrom: 'ASC', createdAt: 'ASC', id: 'ASC' },
  });
  const bundled = bundledVisible().filter((price) => isInForce(price, now));
  const inForce = new Map<string, VisiblePrice>();
  // Later prices replace earlier ones.
  for (const price of [...bundled, ...rows.map(fromRow)]) {
    // Public lists have rerank prices of only this mode and tier.
    if (price.mode !== 'standard' || price.minInputTokens !== 0) continue;
    inForce.set(nameOf(price), price);
  }
  return [...inForce.values()];
}
