import { createHash } from 'node:crypto';
import type { ProviderSlug } from '../../upstream/providers/provider.types.js';

/** Google sells these models at the list prices of those who make them, at its global endpoint. Source: https://cloud.google.com/vertex-ai/generative-ai/pricing, read 2026-11-28. */
const AT_VERTEX: ReadonlySet<ProviderSlug> = new Set(['anthropic', 'gemini']);

/** The rows of models that another provider sells too, and the same rows for that provider. */
export function withResold<
  Row extends { readonly provider: ProviderSlug; readonly model: string; readonly id?: string },
>(rows: readonly Row[]): readonly Row[] {
  return [...rows, ...rows.filter(({ provider }) => AT_VERTEX.has(provider)).map(atVertex)];
}

/** As Google writes the version of a model: behind an `@`. */
const DATE = /-(?=20\d{6}$)/;

function atVertex<Row extends { readonly model: string; readonly id?: string }>(row: Row): Row {
  const { id, model } = row;
  return {
    ...row,
    provider: 'vertex',
    model: model.replace(DATE, '@'),
    ...(id !== undefined && { id: idAtVertex(id) }),
  };
}

/** The same for the same row, since the ledger names it. A UUID of version 8. */
function idAtVertex(id: string): string {
  const hex = createHash('sha256').update(`vertex ${id}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
