import { describe, expect, it } from '@jest/globals';
import { isPublicAddress } from './address-policy.js';

describe('isPublicAddress', () => {
  it.each([
    '1.1.1.1',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '223.255.255.255',
  ])('allows the IPv4 address %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each(['2606:4700::6810:84e5', '2a00:1450:4001:81b::200e', '2003:e1::1', '2001:4860:4860::8888'])(
    'allows the IPv6 address %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ['unspecified', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['Alibaba metadata', '100.100.100.200'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['link-local, metadata', '169.254.169.254'],
    ['container credentials', '169.254.170.2'],
    ['Azure platform', '168.63.129.16'],
    ['protocol assignments, Oracle metadata', '192.0.0.192'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['6to4 relay', '192.88.99.1'],
    ['AS112', '192.31.196.1'],
    ['benchmarking', '198.18.0.1'],
    ['benchmarking', '198.19.255.255'],
    ['multicast', '224.0.0.1'],
    ['multicast', '239.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
  ])('refuses %s: %s', (_kind, address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['global with a zone', '2606:4700::1%eth0'],
    ['site-local', 'fec0::1'],
    ['unique local', 'fc00::1'],
    ['unique local, AWS metadata', 'fd00:ec2::254'],
    ['unique local, Google metadata', 'fd20:ce::254'],
    ['multicast', 'ff02::1'],
    ['multicast', 'ff0e::1'],
    ['discard', '100::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['benchmarking', '2001:2::1'],
    ['ORCHID', '2001:20::1'],
    ['segment routing', '5f00::1'],
    ['not delegated', '4000::1'],
    ['not delegated', '1fff::1'],
  ])('refuses %s: %s', (_kind, address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    ['mapped', '::ffff:127.0.0.1'],
    ['mapped', '::ffff:7f00:1'],
    ['mapped, public inside', '::ffff:1.1.1.1'],
    ['mapped, long form', '0:0:0:0:0:ffff:a9fe:a9fe'],
    ['translated (RFC 6145)', '::ffff:0:127.0.0.1'],
    ['compatible', '::127.0.0.1'],
    ['compatible', '::a00:1'],
    ['6to4', '2002:7f00:1::1'],
    ['6to4, public inside', '2002:101:101::1'],
    ['NAT64', '64:ff9b::127.0.0.1'],
    ['NAT64', '64:ff9b::a9fe:a9fe'],
    ['NAT64, local use', '64:ff9b:1::a00:1'],
    ['Teredo', '2001:0:53aa:64c::1'],
    ['ISATAP', '2606:4700::5efe:10.0.0.1'],
    ['ISATAP, universal bit', '2606:4700::200:5efe:a00:1'],
  ])('refuses IPv4 inside IPv6, %s: %s', (_kind, address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '01.1.1.1',
    '1.1.1.1.',
    '[::1]',
    '1.1.1.1/32',
    ' 1.1.1.1',
  ])('refuses %p, which is not a plain address', (address) => expect(isPublicAddress(address)).toBe(false));
});
