import { describe, expect, it } from '@jest/globals';
import { isUnchanged, type KnownCalls, senselessCondition } from './condition-sense.js';
import type { Condition } from './conditions.js';

const KEYS: Readonly<Record<string, readonly string[]>> = {
  reranks: ['cohere'],
  relays: ['openai'],
  both: ['openai', 'cohere'],
};
const KNOWN: KnownCalls = {
  metered: [
    { endpoint: 'rerank', provider: 'cohere', isMetered: true },
    { endpoint: 'chat', provider: 'azure-ai', isMetered: true },
  ],
  providersOf: (slug) => KEYS[slug],
};

function paramOf(...conditions: readonly Condition[]): string | undefined {
  return senselessCondition(conditions, KNOWN)?.param;
}

describe('senselessCondition: calls that are not metered', () => {
  it.each<Condition>([
    { key: 'endpoint', value: 'batches' },
    { key: 'endpoint', value: ['batches', 'files'] },
    { key: 'endpoint', value: '*', excludes: ['rerank', 'chat'] },
    { key: 'provider', value: 'openai' },
    { key: 'provider', value: '*', excludes: ['cohere', 'azure*'] },
    { key: 'virtual_key', value: 'relays' },
    { key: 'model', value: '@openai/gpt-*' },
    { key: 'model', value: ['@relays/gpt-4o', '@openai/*'] },
    { key: 'mcp_server', value: 'files' },
    { key: 'mcp_tool', value: 'delete_*' },
  ])('are all that %j can mean', (condition) => {
    expect(paramOf({ key: 'metadata.team', value: 'a' }, condition)).toBe('conditions.1.value');
  });

  it.each<Condition>([
    { key: 'endpoint', value: ['batches', 'Rerank'] },
    { key: 'endpoint', value: '*' },
    { key: 'provider', value: ['openai', 'cohere'] },
    { key: 'provider', value: 'co*' },
    { key: 'virtual_key', value: ['relays', 'reranks'] },
    { key: 'virtual_key', value: 'both' },
    { key: 'virtual_key', value: 'deleted' },
    { key: 'virtual_key', value: 're*' },
    { key: 'model', value: 'gpt-*' },
    { key: 'model', value: ['@openai/*', '@both/*'] },
    { key: 'model', value: ['@deleted/*', '@op*'] },
    { key: 'mcp_tool', value: '*', excludes: 'delete_*' },
    { key: 'metadata.team', value: 'a' },
  ])('are not all that %j can mean', (condition) => {
    expect(paramOf(condition)).toBeUndefined();
  });

  it('are found where several conditions together leave nothing else', () => {
    const rerank = { key: 'endpoint', value: 'rerank' } as const;
    expect(paramOf(rerank, { key: 'provider', value: 'azure-ai' })).toBe('conditions');
    expect(paramOf(rerank, { key: 'virtual_key', value: 'both' })).toBeUndefined();
  });
});

describe('senselessCondition: contradictions', () => {
  it.each<[string, readonly Condition[]]>([
    ['conditions.1.value', [team('a'), team('b')]],
    ['conditions.1.value', [team(['a', 'b']), team('c*')]],
    ['conditions.2.value', [team(['a', 'b']), team('*'), team('c')]],
    ['conditions.0.excludes', [team('a', 'a')]],
    ['conditions.0.excludes', [team(['ab', 'ac'], 'a*')]],
    ['conditions.1.excludes', [team(['a', 'b']), team('b', ['b', 'c'])]],
    [
      'conditions.1.value',
      [
        { key: 'provider', value: 'Cohere' },
        { key: 'provider', value: 'azure-ai' },
      ],
    ],
  ])('names %s of %j', (param, conditions) => {
    expect(paramOf(...conditions)).toBe(param);
  });

  it.each<[readonly Condition[]]>([
    [[team('a'), team('*')]],
    [[team(['a', 'b']), team('b')]],
    [[team('a*'), team('ab')]],
    [[team('a*', 'ab')]],
    [[team('*', '*')]],
    [[team('a'), { key: 'metadata.other', value: 'b' }]],
    [
      [
        { key: 'provider', value: 'Cohere' },
        { key: 'provider', value: 'COHERE' },
      ],
    ],
    // Two names of one model.
    [
      [
        { key: 'model', value: 'rerank-v3.5' },
        { key: 'model', value: '@cohere/*' },
      ],
    ],
  ])('finds none in %j', (conditions) => {
    expect(paramOf(...conditions)).toBeUndefined();
  });
});

describe('isUnchanged', () => {
  it('knows conditions that are written back as they were read', () => {
    expect(isUnchanged([{ ...team('a') }], [{ ...team('a'), excludes: undefined }])).toBe(true);
    expect(isUnchanged([team('a', 'b')], [team('a')])).toBe(false);
  });
});

function team(value: string | readonly string[], excludes?: string | readonly string[]): Condition {
  return { key: 'metadata.team', value, ...(excludes === undefined ? {} : { excludes }) };
}
