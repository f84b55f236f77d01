import { describe, expect, it } from '@jest/globals';
import { MAX_SCRUBBED_CHARACTERS, scrub } from './scrub.js';
import { cpuTimeOf } from '../../test/support/cpu-time.js';

describe('scrub', () => {
  it.each([
    ['an AWS access key id', 'key AKIAIOSFODNN7EXAMPLE is unknown', 'key [removed] is unknown'],
    ['an AWS session key id', '(ASIAIOSFODNN7EXAMPLE)', '([removed])'],
    ['an AWS role id', 'AROAIOSFODNN7EXAMPLE:tollgate', '[removed]:tollgate'],
    ['an AWS secret key', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', '[removed]'],
    ['a bearer token', 'Authorization: Bearer abc.def-1234', 'Authorization: Bearer [removed]'],
    ['basic credentials', 'basic dXNlcjpwYXNz', 'basic [removed]'],
    ['a JSON web token', 'jwt eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl!', 'jwt [removed]!'],
    ['half a JSON web token', 'jwt eyJhbGciOiJSUzI1NiJ9', 'jwt [removed]'],
    ['a Vault service token', 'token hvs.CAESIJlWq refused', 'token [removed] refused'],
    ['an older Vault token', 'token s.iyNUhq8Ov4hIAx6snw5mB2nL refused', 'token [removed] refused'],
    ['an older Vault batch token', 'b.AAAAAQJlWq0123456789abcdef', '[removed]'],
    ['long hexadecimal', `signature ${'0a1b'.repeat(16)}`, 'signature [removed]'],
    ['long base64', `${'aB3/'.repeat(12)}==`, '[removed]'],
  ])('removes %s', (_kind, text, clean) => {
    expect(scrub(text, [])).toBe(clean);
  });

  it.each([
    'Secrets Manager can’t find the specified secret.',
    'request id 3b241101-e2bb-4255-8caf-4136c566a962',
    'arn:aws:secretsmanager:us-east-1:111122223333:secret:team/openai-AbCdEf',
    'no handler for route secret/data/production/team-a/openai/the-key',
    'version 0123456789abcdef0123456789abcdef of s.example',
    'AKV10000: Request is missing a Bearer or PoP token.',
  ])('leaves plain words as they are: %s', (text) => {
    expect(scrub(text, [])).toBe(text);
  });

  it('removes the given secrets in every form', () => {
    expect(scrub('user tollgate, password hunter2', ['hunter2'])).toBe('user tollgate, password [removed]');
  });

  it('removes a given secret that the answer quotes in JSON, in a form or in base64', () => {
    const secret = 'p"ss w&rd';
    const quoted = [JSON.stringify({ secret }), encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
    expect(scrub(quoted.join(' '), [secret])).toBe('{"secret":"[removed]"} [removed] [removed]');
  });

  it('removes the whole of the longer of two secrets that begin alike', () => {
    expect(scrub('abcd abcdefgh', ['abcd', 'abcdefgh'])).toBe('[removed] [removed]');
  });

  it('removes a secret with characters of patterns and replacements literally', () => {
    expect(scrub('a.c $& abc', ['a.c', '$&'])).toBe('[removed] [removed] abc');
  });

  it('ignores its own mark and empty secrets', () => {
    expect(scrub('ex', ['e', ''])).toBe('[removed]x');
  });

  it('puts the text on one line', () => {
    expect(scrub('first\r\n\tsecond\u0000third\u001b[31m ', [])).toBe('first second third [31m');
  });

  it('ends a long text with an ellipsis, after everything was removed', () => {
    const clean = scrub(`${'word '.repeat(59)}hunter2hunter2 ${'word '.repeat(100)}`, ['hunter2hunter2']);
    expect(clean).toHaveLength(MAX_SCRUBBED_CHARACTERS);
    expect(clean).toMatch(/word \[rem…$/);
    expect(scrub('x'.repeat(MAX_SCRUBBED_CHARACTERS), [])).toHaveLength(MAX_SCRUBBED_CHARACTERS);
  });

  it('shows no part of a token where it stops reading', () => {
    const text = `${'AKIAIOSFODNN7EXAMPLE '.repeat(389)}      hvs.CAESIJlWq`;
    expect(scrub(text, [])).not.toContain('hvs');
    expect(scrub(`${' '.repeat(8_180)}hvs.CAESIJlWqQWERTZ`, [])).toBe('');
  });

  it('scrubs a text that is made to be slow in time', async () => {
    expect(await cpuTimeOf(() => scrub('eyJ'.repeat(700_000), ['eyJeyJeyK']))).toBeLessThan(1_000);
  });
});
