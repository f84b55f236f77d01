import { storableTexts, toStorableOrNull, toStorableText } from '../common/storable-text.js';
import type { AppliedRate } from './prices/price.types.js';
import { tokensOf, toQuantitiesJson } from './units.js';
import type { Settlement, UsageDimensions, UsageFigures } from './usage-store.types.js';

const LONG = 255;
const SHORT = 64;
const TRACE_ID = 128;

/** A name as in the ledger, which cuts long ones. */
export function inLedger(name: string): string {
  return toStorableText(name, LONG);
}

/**
 * Converts dimensions to columns of the ledger, in a new object. Long text is cut, so that a call with an odd name
 * cannot fail the batch that it shares with others.
 */
export function ledgerColumns(dimensions: UsageDimensions): Record<string, unknown> {
  return {
    organisation_id: dimensions.organisationId,
    workspace_id: dimensions.workspaceId,
    // The column is not nullable.
    api_key_id: toStorableText(dimensions.apiKeyId ?? '', LONG),
    virtual_key: toStorableOrNull(dimensions.virtualKey, LONG),
    provider: toStorableOrNull(dimensions.provider, SHORT),
    model: toStorableOrNull(dimensions.model, LONG),
    endpoint: toStorableText(dimensions.endpoint, SHORT),
    mcp_server: toStorableOrNull(dimensions.mcpServer, LONG),
    mcp_tool: toStorableOrNull(dimensions.mcpTool, LONG),
    metadata: storableTexts(dimensions.metadata, LONG),
    trace_id: traceColumn(dimensions),
    attempt: dimensions.attempt,
  };
}

export function figureColumns({ costNano, quantities }: UsageFigures) {
  return {
    cost_nano: String(costNano),
    tokens: String(tokensOf(quantities)),
    quantities: toQuantitiesJson(quantities),
  };
}

export function rateColumns({ mode, tier, priceIds }: AppliedRate) {
  return { mode, tier, price_ids: priceIds };
}

/** One literal: spreading three objects took more time than all the rest of a settlement's row. */
export function settledRow(id: string, at: string, settled: Omit<Settlement, 'reservation'>) {
  const { figures, source, outcome, rate, firstTokenMs } = settled;
  return {
    id,
    at,
    cost_nano: String(figures.costNano),
    tokens: String(tokensOf(figures.quantities)),
    quantities: toQuantitiesJson(figures.quantities),
    mode: rate.mode,
    tier: rate.tier,
    price_ids: rate.priceIds,
    source,
    outcome,
    first_token_ms: firstTokenMs,
  };
}

export function traceColumn({ traceId }: UsageDimensions): string {
  return toStorableText(traceId, TRACE_ID);
}

/** Whether two calls have equal columns, except for the trace. */
export function isSameInLedger(one: UsageDimensions, other: UsageDimensions): boolean {
  return (
    one.apiKeyId === other.apiKeyId &&
    one.virtualKey === other.virtualKey &&
    one.model === other.model &&
    one.mcpTool === other.mcpTool &&
    one.mcpServer === other.mcpServer &&
    one.organisationId === other.organisationId &&
    one.workspaceId === other.workspaceId &&
    one.provider === other.provider &&
    one.endpoint === other.endpoint &&
    one.attempt === other.attempt &&
    (one.metadata === other.metadata || isSameMetadata(one.metadata, other.metadata))
  );
}

function isSameMetadata(one: UsageDimensions['metadata'], other: UsageDimensions['metadata']): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
