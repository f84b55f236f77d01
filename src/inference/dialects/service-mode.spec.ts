import { describe, expect, it } from '@jest/globals';
import { AnswerMeter } from './answer-meter.js';
import { requestedModes, servedMode } from './service-mode.js';

describe('requestedModes', () => {
  it.each([
    [{}, ['standard', 'flex', 'priority']],
    [{ service_tier: null }, ['standard', 'flex', 'priority']],
    [{ service_tier: 'auto' }, ['standard', 'flex', 'priority']],
    [{ service_tier: 'default' }, ['standard']],
    [{ service_tier: 'standard_only' }, ['standard']],
    [{ service_tier: 'flex' }, ['flex', 'standard']],
    [{ service_tier: 'priority' }, ['priority', 'standard']],
    [{ service_tier: 'ultrafast' }, ['ultrafast', 'standard']],
    [{ service_tier: 'standard_only', speed: 'fast' }, ['fast', 'standard']],
    [{ service_tier: 'standard_only', speed: 'standard' }, ['standard']],
  ])('of %j are %j', (members, modes) => expect(requestedModes(members)).toEqual(modes));

  it.each([[{ service_tier: 'warp' }], [{ service_tier: 7 }]])('of %j are all that have prices', (members) => {
    expect(requestedModes(members)).toEqual(expect.arrayContaining(['standard', 'priority', 'ultrafast']));
  });
});

describe('servedMode', () => {
  it.each([
    [{ service_tier: 'default' }, 'standard'],
    [{ service_tier: 'priority', usage: {} }, 'priority'],
    [{ response: { service_tier: 'flex' } }, 'flex'],
    [{ message: { usage: { service_tier: 'batch' } } }, 'batch'],
    [{ usage: { service_tier: 'standard', speed: 'fast' } }, 'fast'],
    [{ service_tier: 'warp' }, undefined],
    [{ service_tier: null, usage: null, message: 'x' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (message, mode) => expect(servedMode(message)).toBe(mode));
});

describe('a meter', () => {
  const FORM = { outputFields: [], endMarks: [], usageIn: () => ({ output: 1 }) };
  const OPTIONS = { hidesUsage: false, hidesReasoning: false };

  it.each([
    ['a whole answer', '{"service_tier":"flex","usage":{}}', 'flex'],
    [
      'the last event that says it',
      'data: {"service_tier":"priority","usage":{}}\n\ndata: {"usage":{}}\n\n',
      'priority',
    ],
    ['no answer that does not say it', '{"usage":{}}', undefined],
  ])('reports the mode of %s', (_what, text, mode) => {
    const meter = new AnswerMeter(FORM, OPTIONS);
    meter.push(Buffer.from(text));
    expect(meter.usage.mode).toBe(mode);
  });
});
