import { describe, expect, it } from '@jest/globals';
import { EgressPolicy } from './egress-policy.js';
import { describeEgressRefusal, EgressRefusedError } from './egress-refused.error.js';

function sentenceFor(url: string): string {
  try {
    new EgressPolicy([]).checkUrl(new URL(url));
  } catch (error) {
    if (error instanceof EgressRefusedError) return describeEgressRefusal(error);
  }
  return 'no refusal';
}

describe('describeEgressRefusal', () => {
  it.each([
    ['http://api.example.com', 'https'],
    ['https://user:pass@api.example.com', 'user name or password'],
    ['https://10.0.0.1', '10.0.0.1'],
    ['https://app.localhost', 'app.localhost'],
    [`https://api.example.com/${'a'.repeat(2_048)}`, '2048 characters'],
  ])('says what is expected: %s', (url, part) => {
    expect(sentenceFor(url)).toMatch(/^must /);
    expect(sentenceFor(url)).toContain(part);
  });

  it('never repeats user info', () => {
    expect(sentenceFor('https://user:hunter2@api.example.com')).not.toContain('hunter2');
  });
});
