import { describe, expect, it } from '@jest/globals';
import { changesBetween, secretMark } from './audit-changes.js';

const BEFORE = {
  id: 'one',
  name: 'A',
  config: { base_url: 'https://a.example', region: 'eu' },
  tags: null,
  updated_at: 1,
};

describe('changesBetween', () => {
  it('lists old and new values of the fields that differ, by their paths', () => {
    const after = {
      ...BEFORE,
      id: 'two',
      updated_at: 2,
      config: { base_url: 'https://b.example', region: 'eu' },
      tags: ['x'],
    };
    expect(changesBetween({ before: BEFORE, after })).toEqual({
      'config.base_url': { old: 'https://a.example', new: 'https://b.example' },
      tags: { old: null, new: ['x'] },
    });
    expect(changesBetween({ before: BEFORE, after: { ...BEFORE } })).toEqual({});
  });

  it('lists every value of what was created or deleted', () => {
    expect(changesBetween({ after: BEFORE })).toMatchObject({ name: { old: null, new: 'A' } });
    expect(changesBetween({ before: BEFORE })).toMatchObject({ name: { old: 'A', new: null } });
    expect(Object.keys(changesBetween({ after: BEFORE }))).toEqual(['name', 'config.base_url', 'config.region']);
  });

  it('says of secrets only that they have changed', () => {
    const [old, now] = [secretMark('old-secret'), secretMark('new-secret')];
    const changes = changesBetween({ before: { key: old, other: old }, after: { key: now, other: old } });
    expect(changes).toEqual({ key: 'changed' });
    expect(changesBetween({ after: { config: { token: now } } })).toEqual({ 'config.token': 'changed' });
  });

  it('bounds values and their number', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}`, index + 1]));
    expect(Object.keys(changesBetween({ after: { many } }))).toHaveLength(200);
    expect(changesBetween({ after: { text: 'x'.repeat(5_000) } })).toEqual({
      text: { old: null, new: '(5002 characters)' },
    });
  });

  it('keeps fields with the names of inherited ones', () => {
    const after = { metadata: JSON.parse('{"__proto__": "a", "constructor": "b"}') };
    expect(Object.keys(changesBetween({ after }))).toEqual(['metadata.__proto__', 'metadata.constructor']);
  });
});
