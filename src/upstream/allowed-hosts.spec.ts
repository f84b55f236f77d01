import { describe, expect, it } from '@jest/globals';
import { HOST_PATTERN, isAllowedHost } from './allowed-hosts.js';

describe('isAllowedHost', () => {
  it.each([
    ['https://api.example.com/v1', 'api.example.com'],
    ['https://api.example.com/v1', 'API.Example.com:443'],
    ['https://a.b.example.com/', '*.example.com'],
    ['http://127.0.0.1:4000/', '127.0.0.1:4000'],
    ['http://example.com/', 'example.com:80'],
    ['https://[2001:db8::1]:8443/', '[2001:db8::1]:8443'],
  ])('allows %s by %s', (url, pattern) => {
    expect(pattern).toMatch(HOST_PATTERN);
    expect(isAllowedHost(new URL(url), ['other.example.org', pattern])).toBe(true);
  });

  it.each([
    ['https://example.com/', '*.example.com'],
    ['https://evilexample.com/', '*.example.com'],
    ['https://example.com.evil.org/', 'example.com'],
    ['https://api.example.com:8443/', 'api.example.com'],
    ['http://api.example.com/', 'api.example.com:443'],
    ['https://api.example.com@evil.org/', 'api.example.com'],
    ['https://evil.org/api.example.com', 'api.example.com'],
  ])('refuses %s by %s', (url, pattern) => {
    expect(isAllowedHost(new URL(url), [pattern])).toBe(false);
  });

  it.each([
    '',
    '*',
    '*.',
    'https://api.example.com',
    'api.example.com/v1',
    'a*.example.com',
    'a b',
    'host:',
    'host:0',
    '-a',
  ])('takes %j for no host', (text) => expect(text).not.toMatch(HOST_PATTERN));
});
