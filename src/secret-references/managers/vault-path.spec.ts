import { describe, expect, it } from '@jest/globals';
import { encodePath, guessDataPath, toDataPath, vaultPathProblem } from './vault-path.js';

describe('vaultPathProblem', () => {
  it.each(['secret/db', 'secret/data/team a/ü', 'a/..b', 'a/b..', 'v1/db', 'a/%2e%2e'])(
    'accepts the path %s',
    (path) => {
      expect(vaultPathProblem(path)).toBeUndefined();
    },
  );

  it.each([
    ['', 'slash'],
    ['secret', 'mount/name'],
    ['/v1/secret/db', '/v1/'],
    ['/secret/db', 'slash'],
    ['secret/db/', 'slash'],
    ['secret//db', 'slash'],
    ['secret/../sys/leader', 'dot segments'],
    ['./secret/db', 'dot segments'],
    ['secret/db?version=1', '?'],
    ['secret/db#a', '#'],
    ['secret/d\nb', 'control'],
    ['secret/d\u0085b', 'control'],
    ['secret/\ud800', 'control'],
  ])('refuses %j', (path, about) => {
    expect(vaultPathProblem(path)).toContain(about);
  });
});

describe('encodePath', () => {
  it.each([
    ['secret/a b', 'secret/a%20b'],
    ['secret/ü&=+', 'secret/%C3%BC%26%3D%2B'],
    ['secret/%2e%2e/x\\..\\y', 'secret/%252e%252e/x%5C..%5Cy'],
  ])('keeps the segments of %s', (path, encoded) => {
    expect(encodePath(path)).toBe(encoded);
    expect(new URL(`https://vault/v1/${encoded}`).pathname).toBe(`/v1/${encoded}`);
  });
});

describe('toDataPath', () => {
  it.each([
    ['secret/db', 'secret/', 'secret/data/db'],
    ['secret/data/db', 'secret/', 'secret/data/db'],
    ['team/kv/a/b', 'team/kv/', 'team/kv/data/a/b'],
    ['data/db', 'data/', 'data/data/db'],
    ['secret/database', 'secret/', 'secret/data/database'],
    // A secret that is called `data`.
    ['secret/data', 'secret/', 'secret/data/data'],
  ])('makes of the path %s in the mount %s the data path %s', (path, mount, expected) => {
    expect(toDataPath(path, mount)).toBe(expected);
  });
});

describe('guessDataPath', () => {
  it.each([
    ['secret/db', 'secret/data/db'],
    ['secret/data/db', 'secret/data/db'],
    ['team/kv/data/db', 'team/kv/data/db'],
    ['secret/data', 'secret/data/data'],
    ['data/db', 'data/data/db'],
  ])('guesses for the path %s the data path %s', (path, expected) => {
    expect(guessDataPath(path)).toBe(expected);
  });
});
