import { describe, expect, it } from '@jest/globals';
import { EgressAllowList } from './egress-allow-list.js';

describe('EgressAllowList', () => {
  it.each([
    ['vault.internal', 'vault.internal', 8200],
    ['vault.internal:8200', 'vault.internal', 8200],
    ['VAULT.Internal.', 'vault.internal', 443],
    [' my_service ', 'my_service', 80],
    ['bücher.internal', 'xn--bcher-kva.internal', 443],
  ])('allows by the entry %p the name %s', (entry, name, port) =>
    expect(new EgressAllowList([entry]).hasName(name, port)).toBe(true),
  );

  it('allows a name with a port on that port only', () => {
    expect(new EgressAllowList(['vault.internal:8200']).hasName('vault.internal', 8201)).toBe(false);
  });

  it('does not allow the names under an allowed name', () => {
    expect(new EgressAllowList(['internal']).hasName('vault.internal', 443)).toBe(false);
  });

  it.each([
    ['10.0.0.0/8', '10.255.0.1'],
    ['10.0.0.5', '10.0.0.5'],
    ['10.0.0.5:443', '10.0.0.5'],
    ['0.0.0.0/0', '192.168.0.1'],
    ['::1', '::1'],
    ['[::1]', '::1'],
    ['[::1]:443', '0:0:0:0:0:0:0:1'],
    ['fd00::/8', 'fd12:3456::1'],
  ])('allows by the entry %s the address %s', (entry, address) =>
    expect(new EgressAllowList([entry]).hasAddress(address, 443)).toBe(true),
  );

  it.each([
    ['10.0.0.0/8', '11.0.0.1'],
    ['10.0.0.5', '10.0.0.6'],
    ['10.0.0.5:8443', '10.0.0.5'],
    ['[::1]:8443', '::1'],
    ['127.0.0.1/32', '::ffff:127.0.0.1'],
    ['fe80::/10', 'fe80::1%eth0'],
    ['10.0.0.0/8', 'ten.example'],
  ])('does not allow by the entry %s the address %s', (entry, address) =>
    expect(new EgressAllowList([entry]).hasAddress(address, 443)).toBe(false),
  );

  it.each([
    '',
    ' ',
    '*',
    '*.example.com',
    'http://vault.internal',
    'vault.internal/path',
    'user@vault.internal',
    'vault.internal:0',
    'vault.internal:65536',
    'vault.internal:http',
    'vault.internal:',
    'a b',
    'vault%2einternal',
    '10.0.0.0/33',
    '::1/129',
    '10.0.0.0/',
    '127/8',
    '127.1',
    '0x7f000001',
    '300.1.1.1',
    '[::1',
    '[vault]',
    '[10.0.0.1]',
    '[]:443',
    'fe80::1%eth0',
    'fe80::1%eth0/64',
    '::1:8080:x',
    '.',
    '!!',
    '-vault',
    'vault-',
    "vault'",
  ])('refuses the entry %p and names it', (entry) => {
    expect(() => new EgressAllowList(['10.0.0.1', entry, 'vault', entry])).toThrow(/^EGRESS_ALLOW: .*: entry 2, 4$/);
  });
});
