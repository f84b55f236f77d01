import { describe, expect, it } from '@jest/globals';
import { requestWith } from './providers/__fixtures__/requests.js';
import { localRerank } from './providers/local.provider.js';
import type { RerankOption, RerankProvider, RerankRequest } from './rerank.types.js';
import { assertStrict, toWarning, unsupportedOptions, withoutOptions } from './rerank.service.js';

const PLAIN = requestWith();

/** A value for every option that some providers lack. */
const FULL: RerankRequest = {
  ...PLAIN,
  maxTokensPerDoc: 100,
  priority: 0,
  rankFields: ['title'],
  truncation: false,
  parameters: {},
};

function providerWith(...options: readonly RerankOption[]): RerankProvider {
  return { ...localRerank, options: new Set(options) };
}

describe('unsupportedOptions', () => {
  it('names options of the request that the provider does not have', () => {
    expect(unsupportedOptions(FULL, providerWith('priority', 'rank_fields'))).toEqual([
      'max_tokens_per_doc',
      'truncation',
      'parameters',
    ]);
  });

  it('treats false and zero as present', () => {
    expect(unsupportedOptions({ ...PLAIN, truncation: false, priority: 0 }, providerWith())).toEqual([
      'priority',
      'truncation',
    ]);
  });

  it('returns nothing for a request without options, or a provider with all of them', () => {
    expect(unsupportedOptions(PLAIN, providerWith())).toEqual([]);
    const all = providerWith('max_tokens_per_doc', 'priority', 'rank_fields', 'truncation', 'parameters');
    expect(unsupportedOptions(FULL, all)).toEqual([]);
  });
});

describe('withoutOptions', () => {
  it('removes the named options and keeps the rest', () => {
    expect(withoutOptions(FULL, ['max_tokens_per_doc', 'parameters'])).toEqual({
      ...FULL,
      maxTokensPerDoc: undefined,
      parameters: undefined,
      exact: undefined,
      original: undefined,
    });
  });

  it('removes every option that the provider does not have', () => {
    const provider = providerWith('truncation');
    const rest = withoutOptions(FULL, unsupportedOptions(FULL, provider));
    expect(unsupportedOptions(rest, provider)).toEqual([]);
    expect(rest.truncation).toBe(false);
  });

  it('does not change the given request', () => {
    withoutOptions(FULL, ['priority']);
    expect(FULL.priority).toBe(0);
  });
});

describe('options of other rerank APIs', () => {
  const foreign = { values: { user: 'u-1', truncate: false }, understood: ['top_k'] } as const;

  it('names those that the provider does not have', () => {
    expect(unsupportedOptions({ ...PLAIN, priority: 1, foreign }, providerWith())).toEqual([
      'priority',
      'truncate',
      'user',
    ]);
    expect(unsupportedOptions({ ...PLAIN, foreign }, providerWith('user', 'truncate'))).toEqual([]);
  });

  it('leaves them to the provider when others are removed', () => {
    expect(withoutOptions({ ...PLAIN, foreign }, ['user', 'truncate'])).toEqual({ ...PLAIN, foreign });
  });
});

describe('assertStrict', () => {
  const refused = (request: RerankRequest, provider: RerankProvider): unknown => {
    try {
      assertStrict(request, unsupportedOptions(request, provider), provider);
    } catch (error) {
      return error;
    }
    return undefined;
  };

  it('throws a 400 that lists every unsupported option', () => {
    expect(refused({ ...PLAIN, priority: 1, truncation: true }, providerWith())).toMatchObject({
      code: 'unsupported_parameter',
      status: 400,
      param: 'priority',
      details: [{ param: 'priority' }, { param: 'truncation' }],
    });
  });

  it('refuses names of other rerank APIs, also those that the gateway understands', () => {
    const foreign = { values: { user: 'u-1' }, understood: ['top_k'] } as const;
    const details = [{ param: 'user' }, { param: 'top_k' }];
    expect(refused({ ...PLAIN, foreign }, providerWith())).toMatchObject({ code: 'unsupported_parameter', details });
    expect(refused({ ...PLAIN, foreign }, providerWith('user', 'top_k'))).toBeUndefined();
  });

  it('accepts a request that the provider supports', () => expect(refused(PLAIN, providerWith())).toBeUndefined());
});

describe('toWarning', () => {
  it('writes an element of the warnings header', () => {
    expect(toWarning('rank_fields', providerWith())).toBe('unsupported_parameter; param=rank_fields; provider=local');
  });
});
