import { describe, expect, it } from '@jest/globals';
import { reportedCost } from './reported-cost.js';

describe('reportedCost', () => {
  it.each([
    [0.95, 950_000_000n],
    [0, 0n],
    [1, 1_000_000_000n],
    [0.000000285, 285n],
    [2.85e-7, 285n],
    [1.4e-10, 0n],
    [0.0000000005, 1n],
    [0.1234567894, 123_456_789n],
  ])('reads a cost of %s dollars', (cost, nano) => expect(reportedCost({ usage: { cost } })).toBe(nano));

  it.each([
    ['a response', { response: { usage: { cost: 0.5 } } }],
    ['the beginning of a message', { message: { usage: { cost: 0.5 } } }],
  ])('reads that of %s', (_what, message) => expect(reportedCost(message)).toBe(500_000_000n));

  it('adds the bill of the provider behind a key of one’s own', () => {
    const usage = { cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 1 } };
    expect(reportedCost({ usage })).toBe(1_050_000_000n);
  });

  it('does not add it where it is a part of the cost', () => {
    const usage = { cost: 1, is_byok: false, cost_details: { upstream_inference_cost: 1 } };
    expect(reportedCost({ usage })).toBe(1_000_000_000n);
  });

  it.each([
    ['no usage', {}],
    ['usage without a cost', { usage: { prompt_tokens: 1 } }],
    ['null', { usage: { cost: null } }],
    ['a text', { usage: { cost: '0.5' } }],
    ['an object', { usage: { cost: { total_cost: 1 } } }],
    ['less than nothing', { usage: { cost: -1 } }],
    ['a key of one’s own without its bill', { usage: { cost: 0, is_byok: true } }],
    ['such a key with a bill that is not known', { usage: { cost: 0, is_byok: true, cost_details: {} } }],
  ])('reads nothing from %s', (_what, message) => expect(reportedCost(message)).toBeUndefined());
});
