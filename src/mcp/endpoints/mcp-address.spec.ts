import { describe, expect, it } from '@jest/globals';
import { addressOf, resourcePath } from './mcp-address.js';

describe('the address of a server', () => {
  it('is its name, behind its workspace where there is one', () => {
    expect(addressOf({ params: { server: 'search' } })).toEqual({ workspace: undefined, server: 'search' });
    expect(addressOf({ params: { workspace: 'team', server: 'search' } })).toEqual({
      workspace: 'team',
      server: 'search',
    });
  });

  const OWN: readonly Readonly<Record<string, string>>[] = [
    { server: 'v1' },
    { server: 'DOCS' },
    { workspace: 'v1', server: 'mcp-servers' },
    { server: '.well-known' },
  ];

  it.each(OWN)('is none of the gateway itself: %j', (params) => {
    expect(() => addressOf({ params })).toThrow('There is nothing at this address.');
  });

  it('is the resource that clients know', () => {
    expect(resourcePath({ server: 'search' }, 'mcp')).toBe('/search/mcp');
    expect(resourcePath({ workspace: 'team', server: 'search' }, 'messages')).toBe('/team/search/sse');
  });
});
