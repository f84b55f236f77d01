import { describe, expect, it } from '@jest/globals';
import { addressOf, resourcePath } from './mcp-address.js';

describe('addressOf and resourcePath', () => {
  it('read the server and its workspace from the path', () => {
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

  it.each(OWN)('refuse an address of the gateway itself: %j', (params) => {
    expect(() => addressOf({ params })).toThrow('There is nothing at this address.');
  });

  it('return the path that clients type', () => {
    expect(resourcePath({ server: 'search' }, 'mcp')).toBe('/search/mcp');
    expect(resourcePath({ workspace: 'team', server: 'search' }, 'messages')).toBe('/team/search/sse');
  });
});
