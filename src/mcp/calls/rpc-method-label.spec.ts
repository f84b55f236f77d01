import { describe, expect, it } from '@jest/globals';
import { methodLabel } from './rpc-method-label.js';

describe('the label of a method', () => {
  it.each([
    ['POST', 'tools/call', 'tools/call'],
    ['POST', 'made/up', 'other'],
    ['POST', undefined, 'response'],
    ['GET', undefined, 'GET'],
    ['DELETE', undefined, 'DELETE'],
  ])('of %s %s is %s', (httpMethod, rpcMethod, label) => {
    expect(methodLabel(httpMethod, rpcMethod)).toBe(label);
  });
});
