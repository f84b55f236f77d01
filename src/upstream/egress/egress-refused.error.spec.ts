import { describe, expect, it } from '@jest/globals';
import { EgressPolicy } from './egress-policy.js';
import { egressProblem } from './egress-refused.error.js';

const problemOf = (url: string): string | undefined => egressProblem(new EgressPolicy([]), url);

describe('egressProblem', () => {
  it.each([
    ['http://api.example.com', 'https'],
    ['https://user:pass@api.example.com', 'user name or password'],
    ['https://10.0.0.1', '10.0.0.1'],
    ['https://app.localhost', 'app.localhost'],
    [`https://api.example.com/${'a'.repeat(2_048)}`, '2048 characters'],
  ])('names the expected form: %s', (url, part) => {
    expect(problemOf(url)).toMatch(/^must /);
    expect(problemOf(url)).toContain(part);
  });

  it('returns no problem where the gateway may call', () =>
    expect(problemOf('https://api.example.com')).toBeUndefined());

  it.each(['no url', 'https://[0000::1%25lo]'])('returns a problem for %s, which no parser accepts', (url) =>
    expect(problemOf(url)).toBe('must be an absolute URL'),
  );
  it('throws another error as it is', () => {
    const defect = new Error('a defect');
    const broken = {
      checkUrl: () => {
        throw defect;
      },
    };
    expect(() => egressProblem(broken, 'https://api.example.com')).toThrow(defect);
  });

  it('never repeats user info', () => {
    expect(problemOf('https://user:hunter2@api.example.com')).not.toContain('hunter2');
  });
});
