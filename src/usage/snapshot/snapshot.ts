// The bundled prices and facts of models: two tables that `npm run prices:update` writes.
import { readFileSync } from 'node:fs';
import type { BundledPrice } from '../prices/price.types.js';
import { type KnownModel, parseModelRows } from './model-rows.js';
import { parsePriceRows } from './price-rows.js';

export function readSnapshotPrices(): readonly BundledPrice[] {
  return parsePriceRows(read('prices.csv'));
}

export function readSnapshotModels(): readonly KnownModel[] {
  return parseModelRows(read('models.csv'));
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}
