import { describe, expect, it } from '@jest/globals';
import { awsEndpoint } from './aws-region.js';

describe('awsEndpoint', () => {
  it.each([
    ['us-east-1', 'https://sts.us-east-1.amazonaws.com'],
    ['us-gov-west-1', 'https://sts.us-gov-west-1.amazonaws.com'],
    ['cn-northwest-1', 'https://sts.cn-northwest-1.amazonaws.com.cn'],
    ['eusc-de-east-1', 'https://sts.eusc-de-east-1.amazonaws.eu'],
  ])('finds the partition of %s', (region, origin) => {
    expect(awsEndpoint('sts', region).origin).toBe(origin);
  });

  it.each(['', 'evil.com', 'evil.com/', 'a@b', 'us-east-1#', 'us_east', 'US-EAST-1', 'us-east-1\n', 'a'.repeat(21)])(
    'refuses the region %j, which would become part of the host',
    (region) => {
      expect(() => awsEndpoint('sts', region)).toThrow(expect.objectContaining({ code: 'secret_unavailable' }));
    },
  );
});
