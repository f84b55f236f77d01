import { describe, expect, it } from '@jest/globals';
import { DeepObject, gatherDeepObjects } from './deep-object.decorator.js';

class Filtered {
  @DeepObject()
  readonly metadata?: Record<string, string>;
}
class Inheriting extends Filtered {}
class Plain {}

describe('gatherDeepObjects', () => {
  it('gathers the members of a map, also for a class that inherits it', () => {
    const query = { limit: '1', 'metadata[team]': 'a', 'metadata[x y]': 'b', 'metadata[__proto__]': 'c' };
    for (const metatype of [Filtered, Inheriting]) {
      const gathered = gatherDeepObjects(query, metatype);
      expect(JSON.stringify(gathered)).toBe('{"limit":"1","metadata":{"team":"a","x y":"b","__proto__":"c"}}');
    }
  });

  it.each([
    [Plain, { 'metadata[a]': '1' }],
    [Filtered, { 'other[a]': '1' }],
    [Filtered, { 'metadata[a': '1', 'metadata[a][b]': '2', 'metadata]': '3' }],
    // Of two spellings, neither may be dropped in silence.
    [Filtered, { metadata: 'null', 'metadata[a]': '1' }],
  ])('leaves other names as they are (%#)', (metatype, query) => {
    expect(gatherDeepObjects(query, metatype)).toEqual(query);
  });

  it.each([undefined, null, 'text', []])('returns %j unchanged', (query) => {
    expect(gatherDeepObjects(query, Filtered)).toBe(query);
    expect(gatherDeepObjects({}, undefined)).toEqual({});
  });
});
