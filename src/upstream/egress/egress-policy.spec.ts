import type { LookupAddress, LookupOptions } from 'node:dns';
import { describe, expect, it } from '@jest/globals';
import { EgressPolicy, MAX_NAMED_URL_LENGTH } from './egress-policy.js';
import { EgressRefusedError, type EgressRefusalReason } from './egress-refused.error.js';

function refusalOf(check: () => void): EgressRefusalReason | 'allowed' {
  try {
    check();
  } catch (error) {
    if (error instanceof EgressRefusedError) return error.reason;
    throw error;
  }
  return 'allowed';
}

const strict = new EgressPolicy([]);
const open = new EgressPolicy(['vault.internal', 'db:8200', '10.0.0.0/8', 'localhost', '[::1]:8080']);

describe('EgressPolicy.checkUrl', () => {
  it.each([
    'https://api.example.com/v1?x=1',
    'https://api.example.com.',
    'https://API.EXAMPLE.COM:8443/',
    'HTTPS://api.example.com',
    'https://1.1.1.1',
    'https://[2606:4700::1]',
    'https://bücher.example',
    'https://xn--bcher-kva.example',
    'https://internal.example.com',
    'https://localhost.example.com',
    'https://api.example.com/@10.0.0.1',
  ])('allows the URL %s', (url) => expect(refusalOf(() => strict.checkUrl(new URL(url)))).toBe('allowed'));

  it.each([
    'http://api.example.com',
    'HTTP://api.example.com',
    'http://1.1.1.1',
    'http://127.0.0.1',
    'ftp://api.example.com',
    'file:///etc/passwd',
    'ws://api.example.com',
    'data:text/plain,x',
    'gopher://api.example.com',
  ])('refuses the scheme of %s', (url) => expect(refusalOf(() => strict.checkUrl(new URL(url)))).toBe('scheme'));

  it.each([
    'https://user@api.example.com',
    'https://user:pass@api.example.com',
    'https://:pass@api.example.com',
    'https://api.example.com@10.0.0.1/',
  ])('refuses user info: %s', (url) => expect(refusalOf(() => strict.checkUrl(new URL(url)))).toBe('userinfo'));

  it.each(['https://api.example.com:0', 'http://127.0.0.1:0'])('refuses the port of %s', (url) => {
    const open = new EgressPolicy(['127.0.0.1']);
    expect(refusalOf(() => open.checkUrl(new URL(url)))).toBe('port');
  });

  it.each([
    'https://127.0.0.1',
    'https://127.0.0.1.',
    'https://127.1',
    'https://127.0.1',
    'https://2130706433',
    'https://0x7f000001',
    'https://0x7f.0x0.0x0.0x1',
    'https://0177.0.0.1',
    'https://017700000001',
    'https://0x7f.1',
    'https://0',
    'https://①②⑦.0.0.1',
    'https://１２７.0.0.1',
    'https://127。0。0。1',
    'https://%31%32%37.0.0.1',
    'https://10.1.2.3:8443',
    'https://169.254.169.254/latest/meta-data/',
    'https://0xa9fea9fe',
    'https://168.63.129.16',
    'https://[::]',
    'https://[::1]',
    'https://[0:0:0:0:0:0:0:1]',
    'https://[::ffff:127.0.0.1]',
    'https://[::ffff:7f00:1]',
    'https://[::127.0.0.1]',
    'https://[64:ff9b::10.0.0.1]',
    'https://[2002:7f00:1::]',
    'https://[fe80::1]',
    'https://[fd00:ec2::254]',
  ])('refuses the address of %s', (url) => expect(refusalOf(() => strict.checkUrl(new URL(url)))).toBe('address'));

  it.each([
    'https://localhost',
    'https://LOCALHOST',
    'https://localhost.',
    'https://localhost..',
    'https://app.localhost',
    'https://ⓛocalhost',
    'https://metadata.google.internal',
    'https://metadata.google.internal.',
    'https://internal',
    'https://printer.local',
  ])('refuses the host of %s', (url) => expect(refusalOf(() => strict.checkUrl(new URL(url)))).toBe('host'));

  it('refuses a zone id, which URL does not accept', () => {
    expect(URL.canParse('https://[fe80::1%25eth0]/')).toBe(false);
  });

  it('refuses a URL longer than 2048 characters', () => {
    const base = 'https://api.example.com/';
    expect(refusalOf(() => strict.checkUrl(new URL(base + 'a'.repeat(2_048 - base.length))))).toBe('allowed');
    expect(refusalOf(() => strict.checkUrl(new URL(base + 'a'.repeat(2_049 - base.length))))).toBe('length');
  });

  it('allows more where the caller names it, and nothing else', () => {
    const longOf = (base: string, length: number): URL => new URL(base.padEnd(length, 'a'));
    const outcomeOf = (url: URL): string => refusalOf(() => strict.checkUrl(url, MAX_NAMED_URL_LENGTH));
    expect(outcomeOf(longOf('https://api.example.com/', 8_192))).toBe('allowed');
    expect(outcomeOf(longOf('https://api.example.com/', 8_193))).toBe('length');
    expect(outcomeOf(longOf('https://10.0.0.1/', 4_096))).toBe('address');
  });

  it.each([
    'http://vault.internal',
    'https://vault.internal:9',
    'http://VAULT.internal.:8200/v1',
    'http://db:8200',
    'http://10.9.8.7',
    'http://0x0a000001',
    'http://localhost:3000',
    'http://[::1]:8080',
  ])('allows %s where EGRESS_ALLOW names it', (url) =>
    expect(refusalOf(() => open.checkUrl(new URL(url)))).toBe('allowed'),
  );

  it.each([
    ['http://db:8201', 'scheme'],
    ['http://other.internal', 'scheme'],
    ['https://other.internal', 'host'],
    ['https://[::1]:8081', 'address'],
    ['https://[::ffff:10.0.0.1]', 'address'],
    ['http://user@vault.internal', 'userinfo'],
    ['ftp://vault.internal', 'scheme'],
  ])('refuses %s although EGRESS_ALLOW names something similar', (url, reason) => {
    expect(refusalOf(() => open.checkUrl(new URL(url)))).toBe(reason);
  });
});

/** A resolver that returns one answer after the other, and repeats the last; it counts its calls. */
class FakeResolver {
  readonly asked: string[] = [];

  constructor(private readonly answers: readonly (readonly string[])[]) {}

  readonly resolve = (hostname: string): Promise<LookupAddress[]> => {
    const answer = this.answers[Math.min(this.asked.length, this.answers.length - 1)] ?? [];
    this.asked.push(hostname);
    return Promise.resolve(answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
}

type Found = string | LookupAddress[];

function look(
  policy: EgressPolicy,
  hostname: string,
  options: LookupOptions = { all: true },
  port = 443,
): Promise<Found> {
  return new Promise((resolve, reject) => {
    policy.lookupFor(port)(hostname, options, (error, found) => (error ? reject(error) : resolve(found)));
  });
}

describe('EgressPolicy.lookupFor', () => {
  it('returns the addresses that it checked, after one resolution', async () => {
    const resolver = new FakeResolver([['93.184.216.34', '2606:4700::1'], ['127.0.0.1']]);
    const policy = new EgressPolicy([], resolver.resolve);

    expect(await look(policy, 'api.example.com')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
    expect(resolver.asked).toEqual(['api.example.com']);
  });

  it('refuses a name that is bound again to a private address', async () => {
    const policy = new EgressPolicy([], new FakeResolver([['93.184.216.34'], ['127.0.0.1']]).resolve);

    await look(policy, 'api.example.com');
    await expect(look(policy, 'api.example.com')).rejects.toMatchObject({ reason: 'address', host: 'api.example.com' });
  });

  it.each([
    [['93.184.216.34', '10.0.0.1']],
    [['::1', '93.184.216.34']],
    [['127.0.0.1']],
    [['::ffff:10.0.0.1']],
    [['not an address']],
  ])('refuses a name with an address that is not public: %p', async (addresses) => {
    const policy = new EgressPolicy([], new FakeResolver([addresses]).resolve);
    await expect(look(policy, 'api.example.com')).rejects.toMatchObject({ reason: 'address' });
  });

  it('does not show the address that it refused', async () => {
    const policy = new EgressPolicy([], new FakeResolver([['10.20.30.40']]).resolve);
    await expect(look(policy, 'api.example.com')).rejects.toHaveProperty(
      'message',
      'egress to api.example.com refused: address',
    );
  });

  it('checks all addresses before it chooses a family', async () => {
    const policy = new EgressPolicy([], new FakeResolver([['93.184.216.34', '::1']]).resolve);
    await expect(look(policy, 'api.example.com', { family: 4 })).rejects.toMatchObject({ reason: 'address' });
  });

  it.each([
    [{ all: false }, '93.184.216.34'],
    [{}, '93.184.216.34'],
    [{ family: 6 }, '2606:4700::1'],
    [{ family: 'IPv6' }, '2606:4700::1'],
    [{ family: 4, all: true }, [{ address: '93.184.216.34', family: 4 }]],
    [{ family: 0, all: false }, '93.184.216.34'],
  ] satisfies [LookupOptions, Found][])('supports the options %p', async (options, found) => {
    const policy = new EgressPolicy([], new FakeResolver([['93.184.216.34', '2606:4700::1']]).resolve);
    expect(await look(policy, 'api.example.com', options)).toEqual(found);
  });

  it.each([
    [[], {}],
    [['93.184.216.34'], { family: 6 }],
    [['93.184.216.34'], { family: 6, all: true }],
  ] satisfies [string[], LookupOptions][])(
    'reports ENOTFOUND when %p has no address for %p',
    async (addresses, options) => {
      const policy = new EgressPolicy([], new FakeResolver([addresses]).resolve);
      await expect(look(policy, 'api.example.com', options)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    },
  );

  it('applies the allowed ranges after resolving, and their ports', async () => {
    const policy = new EgressPolicy(
      ['10.0.0.0/8', '192.168.0.1:8443'],
      new FakeResolver([['10.0.0.1', '192.168.0.1']]).resolve,
    );

    expect(await look(policy, 'db.example.com', { all: false }, 8_443)).toBe('10.0.0.1');
    await expect(look(policy, 'db.example.com', {}, 443)).rejects.toMatchObject({ reason: 'address' });
  });

  it.each([
    ['db.example.com', 443, 'db.example.com'],
    ['db.example.com', 8_200, 'DB.example.com.'],
    ['db.example.com:8200', 8_200, 'db.example.com'],
  ])('accepts any address of a host that EGRESS_ALLOW names: %s at %d', async (entry, port, hostname) => {
    const policy = new EgressPolicy([entry], new FakeResolver([['10.0.0.1']]).resolve);
    expect(await look(policy, hostname, {}, port)).toBe('10.0.0.1');
  });

  it('restricts a named host to its port', async () => {
    const policy = new EgressPolicy(['db.example.com:8200'], new FakeResolver([['10.0.0.1']]).resolve);
    await expect(look(policy, 'db.example.com', {}, 443)).rejects.toMatchObject({ reason: 'address' });
  });

  it('passes on why a name does not resolve', async () => {
    const failure = Object.assign(new Error('queryA ESERVFAIL'), { code: 'ESERVFAIL' });
    const policy = new EgressPolicy([], () => Promise.reject(failure));
    await expect(look(policy, 'api.example.com')).rejects.toBe(failure);
  });

  it('uses the resolver of the system by default', async () => {
    expect(await look(new EgressPolicy(['localhost']), 'localhost', { family: 4 })).toBe('127.0.0.1');
    await expect(look(strict, 'localhost')).rejects.toMatchObject({ reason: 'address' });
  });
});
