import { describe, expect, it } from '@jest/globals';
import { localRerank } from './providers/local.provider.js';
import type { RerankOption, RerankProvider, RerankRequest } from './rerank.types.js';
import { refuseOptions, toWarning, unsupportedOptions, withoutOptions } from './unsupported-options.js';

const PLAIN: RerankRequest = {
  model: 'm',
  query: 'q',
  documents: ['d'],
  topN: undefined,
  returnDocuments: false,
  maxTokensPerDoc: undefined,
  priority: undefined,
  rankFields: undefined,
  truncation: undefined,
  parameters: undefined,
  exact: undefined,
  original: undefined,
};

/** A value for every option that not every provider has. */
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
  it('names what the request has and the provider has not', () => {
    expect(unsupportedOptions(FULL, providerWith('priority', 'rank_fields'))).toEqual([
      'max_tokens_per_doc',
      'truncation',
      'parameters',
    ]);
  });

  it('counts false and zero as asked for', () => {
    expect(unsupportedOptions({ ...PLAIN, truncation: false, priority: 0 }, providerWith())).toEqual([
      'priority',
      'truncation',
    ]);
  });

  it('finds nothing in a request without options, or for a provider that has all', () => {
    expect(unsupportedOptions(PLAIN, providerWith())).toEqual([]);
    const all = providerWith('max_tokens_per_doc', 'priority', 'rank_fields', 'truncation', 'parameters');
    expect(unsupportedOptions(FULL, all)).toEqual([]);
  });
});

describe('withoutOptions', () => {
  it('takes the named options out and leaves the rest', () => {
    expect(withoutOptions(FULL, ['max_tokens_per_doc', 'parameters'])).toEqual({
      ...FULL,
      maxTokensPerDoc: undefined,
      parameters: undefined,
      exact: undefined,
      original: undefined,
    });
  });

  it('leaves nothing that the provider lacks', () => {
    const provider = providerWith('truncation');
    const rest = withoutOptions(FULL, unsupportedOptions(FULL, provider));
    expect(unsupportedOptions(rest, provider)).toEqual([]);
    expect(rest.truncation).toBe(false);
  });

  it('does not change the request that it was given', () => {
    withoutOptions(FULL, ['priority']);
    expect(FULL.priority).toBe(0);
  });
});

describe('refuseOptions', () => {
  it('is a 400 that lists every option', () => {
    const error = refuseOptions(['priority', 'truncation'], providerWith());
    expect(error).toMatchObject({ code: 'unsupported_parameter', status: 400, param: 'priority' });
    expect(error.details?.map((detail) => detail.param)).toEqual(['priority', 'truncation']);
  });
});

describe('toWarning', () => {
  it('has the form of the warnings header', () => {
    expect(toWarning('rank_fields', providerWith())).toBe('unsupported_parameter; param=rank_fields; provider=local');
  });
});
