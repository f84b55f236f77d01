// At its global endpoint, Google sells Anthropic's models and its own at their makers' list prices. At all other
// locations, models of Claude cost a tenth more from generation 4.5 on, and the snapshot has no older ones. Sources,
// read 2026-11-28: https://cloud.google.com/vertex-ai/generative-ai/pricing,
// https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
import { createHash } from 'node:crypto';
import { atRegions } from '../../upstream/providers/vertex/model-names.js';
import type { BundledPrice } from '../prices/price.types.js';
import type { KnownModel } from './model-rows.js';

/** Matches the hyphen before a model's version, which Google writes as `@`. */
const DATE = /-(?=20\d{6}$)/;
/** Searches cost the same at all locations. */
const SAME_EVERYWHERE: ReadonlySet<string> = new Set(['web_search']);

/** Adds Vertex's prices of the models that it resells. */
export function withResoldPrices(rows: readonly BundledPrice[]): readonly BundledPrice[] {
  const global = rows.filter(isAtVertex).map((row) => ({ ...atVertex(row), id: idOf(`vertex ${row.id}`) }));
  const regional = rows
    .filter(({ provider }) => provider === 'anthropic')
    .map((row) => ({
      ...atVertex(row),
      id: idOf(`vertex regions ${row.id}`),
      model: atRegions(atVertex(row).model),
      price: SAME_EVERYWHERE.has(row.unit) ? row.price : (row.price * 11n) / 10n,
    }));
  return [...rows, ...global, ...regional];
}

/** Adds Vertex's limits of the models that it resells. */
export function withResoldModels(rows: readonly KnownModel[]): readonly KnownModel[] {
  return [...rows, ...rows.filter(isAtVertex).map(atVertex)];
}

function isAtVertex({ provider }: Pick<KnownModel, 'provider'>): boolean {
  return provider === 'anthropic' || provider === 'gemini';
}

function atVertex<Row extends Pick<KnownModel, 'provider' | 'model'>>(row: Row): Row {
  return { ...row, provider: 'vertex', model: row.model.replace(DATE, '@') };
}

/** A UUID of version 8, always the same for a row, since the ledger refers to it. */
function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
