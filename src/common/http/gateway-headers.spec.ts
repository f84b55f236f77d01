import { describe, expect, it } from '@jest/globals';
import { gatewayHeader } from './gateway-headers.js';

describe('gatewayHeader', () => {
  it('reads the x-gateway and the x-portkey name of a header', () => {
    expect(gatewayHeader({ 'x-gateway-api-key': 'ours' }, 'api-key')).toBe('ours');
    expect(gatewayHeader({ 'x-portkey-api-key': 'theirs' }, 'api-key')).toBe('theirs');
  });

  it('prefers the x-gateway name of a header', () => {
    expect(gatewayHeader({ 'x-portkey-api-key': 'theirs', 'x-gateway-api-key': 'ours' }, 'api-key')).toBe('ours');
  });

  it.each([
    {},
    { 'x-gateway-api-key': '' },
    { 'x-gateway-api-key': ['one', 'two'] },
    { 'x-gateway-virtual-key': 'another name' },
    { 'api-key': 'no prefix' },
  ])('finds no API key in %j', (headers) => expect(gatewayHeader(headers, 'api-key')).toBeUndefined());
});
