import { DO_NOT_RETRY, type ExhaustedLimit, GatewayError } from '../common/errors/gateway.error.js';
import { formatDecimal } from '../common/money/decimal.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import { decimalsOf, fromUnits } from '../policies/limits.js';
import type { QuantityUnit } from '../usage/units.js';
import type { BucketState, Charge, ReserveOutcome } from '../usage/usage-store.types.js';

export type RefusedReservation = Exclude<ReserveOutcome, { readonly kind: 'admitted' }>;

const RETRY_AFTER_SECONDS = '1';

/** The error for a call that usage limits refuse. The message names the first limit; the details list all of them. */
export function refusalOf(
  { kind, failing }: RefusedReservation,
  charges: readonly Charge[],
  policies: readonly CompiledPolicy[],
): GatewayError {
  const limits = failing.flatMap((state) => {
    const charge = charges.find(({ policyId }) => policyId === state.policyId);
    return charge === undefined ? [] : [describe(state, charge, policies)];
  });
  const [first] = limits;
  const message = first === undefined ? undefined : sentenceOf(kind, first);
  const headers = { ...limitHeaders(failing, charges, first?.next_reset_at ?? null), ...retryHeaders(kind) };
  const code = kind === 'contended' ? 'usage_limit_contended' : 'usage_limit_exceeded';
  return new GatewayError(code, { limits, headers, reason: kind, ...(message === undefined ? {} : { message }) });
}

/** The error for a call without a known price to which a cost policy applies. */
export function priceUnknown(policyId: string, provider: string, model: string, unit: QuantityUnit): GatewayError {
  const price = { provider, model: model.slice(0, MAX_LOGGED_MODEL), unit, price: '<US dollars for one>' };
  return new GatewayError('price_unknown', {
    param: 'model',
    message: `A cost limit applies to this call, and its model has no price for ${unit}. Set one: POST /v1/prices ${JSON.stringify(price)}`,
    headers: { 'x-gateway-limit-policy': policyId, ...retryHeaders('exceeded') },
    reason: `no price for ${model.slice(0, MAX_LOGGED_MODEL)} of ${provider}`,
  });
}

/**
 * The error for a call without a bound to which a limit applies.
 * @param field of the request that is missing or has no bound
 * @param lack what the field lacks, when the request does not show it
 */
export function usageNotBounded(policyId: string, field: string, lack?: string): GatewayError {
  const why = lack === undefined ? '' : ` (${lack})`;
  return new GatewayError('usage_not_bounded', {
    param: field,
    message: `A usage limit applies to this call, and ${field} leaves open what it may use${why}. A policy lets it pass with unbounded: allow.`,
    headers: { 'x-gateway-limit-policy': policyId, ...retryHeaders('exceeded') },
    reason: `no bound for ${field}${why}`,
  });
}

const MAX_LOGGED_MODEL = 128;

/** Returns what is left of the limit that will be reached first; undefined when no limit is enforced. */
export function remainingOf(buckets: readonly BucketState[], charges: readonly Charge[]): string | undefined {
  let tightest: string | undefined;
  let leastShare = Infinity;
  for (const [index, bucket] of buckets.entries()) {
    const charge = charges[index];
    if (charge?.enforced !== true) continue;
    const left = leftOf(bucket);
    const share = bucket.limit === 0n ? 0 : Number(left) / Number(bucket.limit);
    if (share >= leastShare) continue;
    leastShare = share;
    tightest = amountText(left, charge);
  }
  return tightest;
}

function limitHeaders(
  [state]: readonly BucketState[],
  charges: readonly Charge[],
  resetAt: number | null,
): Readonly<Record<string, string>> {
  if (state === undefined) return {};
  const charge = charges.find(({ policyId }) => policyId === state.policyId);
  return {
    'x-gateway-limit-policy': state.policyId,
    'x-gateway-limit-remaining': amountText(leftOf(state), charge),
    ...(resetAt === null ? {} : { 'x-gateway-limit-reset': String(resetAt) }),
  };
}

/** SDKs repeat a 429 after the wait. Repeating a 412 is useless. */
function retryHeaders(kind: RefusedReservation['kind']): Readonly<Record<string, string>> {
  return kind === 'contended' ? { 'retry-after': RETRY_AFTER_SECONDS } : DO_NOT_RETRY;
}

function describe(
  { used, reserved, limit }: BucketState,
  { policyId, unit, valueKey, resetsAt }: Charge,
  policies: readonly CompiledPolicy[],
): ExhaustedLimit {
  return {
    policy_id: policyId,
    name: policies.find(({ id }) => id === policyId)?.name ?? null,
    type: unit,
    value_key: valueKey,
    credit_limit: fromUnits(unit, limit),
    current_usage: fromUnits(unit, used),
    reserved: fromUnits(unit, reserved),
    next_reset_at: toUnixSeconds(resetsAt ?? null),
  };
}

function sentenceOf(kind: RefusedReservation['kind'], { name, policy_id, value_key }: ExhaustedLimit): string {
  const policy = name === null ? `The usage limit ${policy_id}` : `The usage limit "${name}"`;
  switch (kind) {
    case 'exceeded':
      return `${policy} does not leave enough for this call (${value_key}).`;
    case 'contended':
      return `${policy} is held by calls in flight; try again (${value_key}).`;
    case 'crowded':
      return `${policy} has as many groups as it may have, and none for this call (${value_key}).`;
  }
}

export function leftOf({ limit, used, reserved }: BucketState): bigint {
  const left = limit - used - reserved;
  return left > 0n ? left : 0n;
}

function amountText(amount: bigint, charge: Charge | undefined): string {
  return formatDecimal(amount, decimalsOf(charge?.unit ?? 'cost'));
}
