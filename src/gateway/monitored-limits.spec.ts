import { describe, expect, it } from '@jest/globals';
import { chargeOf, cost, reservationOf } from '../usage/__fixtures__/usage.js';
import type { BucketState, Charge } from '../usage/usage-store.types.js';
import { monitoredRefusal } from './monitored-limits.js';

const MONITOR = chargeOf({ enforced: false });

/** The bucket after the admission of a call that is expected to cost 10. */
function stateOf({ policyId, bucketHash, windowId, limit }: Charge, used: bigint, reserved: bigint): BucketState {
  return { policyId, bucketHash, windowId, limit, used, reserved };
}

function judge(...pairs: readonly (readonly [Charge, bigint, bigint])[]): ReturnType<typeof monitoredRefusal> {
  const charges = pairs.map(([charge]) => charge);
  return monitoredRefusal(
    reservationOf(charges),
    pairs.map(([charge, used, reserved]) => stateOf(charge, used, reserved)),
  );
}

describe('monitoredRefusal', () => {
  it('reports no monitored refusal while there is room, to the last unit', () => {
    expect(judge([MONITOR, 90n, 10n])).toBeUndefined();
    expect(judge()).toBeUndefined();
  });

  it.each([
    ['exceeded', 91n, 10n],
    ['exceeded', 500n, 10n],
    ['contended', 90n, 11n],
    ['contended', 0n, 101n],
  ])('reports the monitored refusal %s with %s used and %s reserved', (result, used, reserved) => {
    expect(judge([MONITOR, used, reserved])).toEqual({ result, policyId: MONITOR.policyId });
  });

  it('compares in the unit of the policy', () => {
    const tokens = { ...MONITOR, unit: 'tokens' as const };
    const call = { charges: [tokens], bound: cost(1_000n, 5n) };
    expect(monitoredRefusal(call, [stateOf(tokens, 95n, 5n)])).toBeUndefined();
    expect(monitoredRefusal(call, [stateOf(tokens, 96n, 5n)])).toMatchObject({ result: 'exceeded' });
  });

  it('reports no monitored refusal of a limit that is enforced', () => {
    expect(judge([chargeOf(), 500n, 10n])).toBeUndefined();
  });

  it('names an exceeded limit before a contended one', () => {
    const other = chargeOf({ enforced: false });
    const held = [MONITOR, 0n, 101n] as const;
    expect(judge(held, [other, 100n, 10n])).toEqual({ result: 'exceeded', policyId: other.policyId });
    expect(judge(held, [other, 0n, 200n])).toEqual({ result: 'contended', policyId: MONITOR.policyId });
  });
});
