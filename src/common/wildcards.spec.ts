import { describe, expect, it } from '@jest/globals';
import { matchesWildcards } from './wildcards.js';
import { cpuTimeOf } from '../../test/support/cpu-time.js';

describe('matchesWildcards', () => {
  it.each([
    ['get_issue', 'get_issue'],
    ['get_*', 'get_issue'],
    ['get_*', 'get_'],
    ['*', ''],
    ['*_issue', 'get_issue'],
    ['get_*_of_*', 'get_name_of_issue'],
    ['*a*a*', 'aa'],
    ['a.*', 'a.b'],
  ])('accepts for the pattern %s the text %s', (pattern, text) => {
    expect(matchesWildcards(pattern, text)).toBe(true);
  });

  it.each([
    ['get_issue', 'get_issues'],
    ['get_*', 'Get_issue'],
    ['get_*', 'forget_issue'],
    ['*_issue', 'get_issues'],
    ['aa*aa', 'aaa'],
    ['*a*a*', 'a'],
    ['a.*', 'axb'],
    ['', 'a'],
  ])('refuses for the pattern %s the text %s', (pattern, text) => {
    expect(matchesWildcards(pattern, text)).toBe(false);
  });

  it('takes a short time for many wildcards and a long text', async () => {
    const spent = await cpuTimeOf(() => {
      expect(matchesWildcards(`${'*a'.repeat(100)}*b`, 'a'.repeat(1_000_000))).toBe(false);
    });
    expect(spent).toBeLessThan(1_000);
  });
});
