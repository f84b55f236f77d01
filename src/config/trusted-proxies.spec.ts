import { describe, expect, it } from '@jest/globals';
import { complaintAbout, namedIn } from './__fixtures__/complaints.js';
import { loadConfig } from './environment.js';
import { isAddressOrBlock, TrustedProxies } from './trusted-proxies.js';

describe('TRUST_PROXY', () => {
  it.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.8', false],
    ['fd00::/8', 'fd12::1', true],
    ['fd00::/8', '10.1.2.3', false],
    ['10.0.0.0/8', 'unknown', false],
  ])('of %s, knows for %s whether it is a proxy: %s', (entry, address, expected) => {
    expect(new TrustedProxies([entry]).has(address)).toBe(expected);
  });

  it.each(['10.0.0.0/33', '127/8', 'proxy.internal', '10.0.0.1:80', 'fd00::/129', '*'])('refuses %s', (entry) => {
    expect(isAddressOrBlock(entry)).toBe(false);
    expect([...namedIn(complaintAbout({ TRUST_PROXY: `10.0.0.1,${entry}` }))]).toEqual(['TRUST_PROXY']);
  });

  it('is a list without entries by default', () => {
    expect(loadConfig({}).TRUST_PROXY).toEqual([]);
    expect(loadConfig({ TRUST_PROXY: '10.0.0.1, fd00::/8' }).TRUST_PROXY).toEqual(['10.0.0.1', 'fd00::/8']);
  });
});
