import { describe, expect, it } from '@jest/globals';
import { complaintAbout, namedIn } from './__fixtures__/complaints.js';
import { loadConfig } from './environment.js';

const SENTINELS = 'redis://:pass@sentinel-1:26379, redis://:pass@sentinel-2:26379';
const CLUSTER = 'redis://cache-1';
const PRIMARY = 'redis://user:secret@cache';

describe('the settings of Redis', () => {
  it('needs no setting of Redis', () => {
    expect(loadConfig({})).toMatchObject({ REDIS_CLUSTER_URLS: [], REDIS_SENTINEL_URLS: [] });
    expect(loadConfig({}).REDIS_URL).toBeUndefined();
  });

  it.each(['redis://cache', 'redis://cache:6379/', 'rediss://:p%40ss@cache:6380/15', 'redis://user:secret@[::1]:6379'])(
    'accepts %s for a server',
    (url) => expect(loadConfig({ REDIS_URL: url }).REDIS_URL).toBe(url),
  );

  it('accepts nodes of a cluster', () => {
    const nodes = ['redis://u:p%40ss@cache-1:7000', 'redis://u:p%40ss@[::1]:7001/', 'redis://u:p%40ss@cache-3/0'];
    expect(loadConfig({ REDIS_CLUSTER_URLS: nodes.join(' , ') }).REDIS_CLUSTER_URLS).toEqual(nodes);
  });

  it.each(['redis://cache', 'rediss://user:p%40ss@my_Primary/3'])('accepts sentinels for %s', (url) => {
    const config = loadConfig({ REDIS_URL: url, REDIS_SENTINEL_URLS: SENTINELS });
    expect(config).toMatchObject({ REDIS_URL: url, REDIS_SENTINEL_URLS: SENTINELS.split(', ') });
  });

  it.each([
    ['REDIS_URL', 'http://cache.example', 'must be a URL that begins with redis:// or rediss://'],
    ['REDIS_URL', 'redis://user:100%@cache', 'must be encoded'],
    ['REDIS_URL', 'redis://cache:6379/sessions', 'number of a database'],
    ['REDIS_URL', 'redis://cache:6379/-1', 'number of a database'],
    ['REDIS_URL', 'redis://cache:6379/1/2', 'number of a database'],
    ['REDIS_CLUSTER_URLS', 'redis://a:7000, http://b:7000', 'must be a URL that begins with redis:// or rediss://'],
    ['REDIS_CLUSTER_URLS', 'redis://a:7000, redis://b:7000/1', 'must name no database'],
    ['REDIS_CLUSTER_URLS', 'redis://a:7000?family=6', 'must have no parameters'],
    ['REDIS_CLUSTER_URLS', 'redis://:a,b@c:7000', 'a comma as %2C'],
    ['REDIS_CLUSTER_URLS', 'redis://a:7000, rediss://b:7000', 'must have the same scheme'],
    [
      'REDIS_CLUSTER_URLS',
      'redis://:secret@a:7000, redis://b:7000',
      'must have the same scheme, user name and password',
    ],
    [
      'REDIS_CLUSTER_URLS',
      'redis://u:secret@a, redis://v:secret@b',
      'must have the same scheme, user name and password',
    ],
    ['REDIS_SENTINEL_URLS', 'redis://a:26379, redis://b:26379/1', 'must name no database'],
    ['REDIS_SENTINEL_URLS', 'sentinel-1:26379', 'must be a URL that begins with redis:// or rediss://'],
  ])('says what is wrong with %s when it is %j', (name, value, problem) => {
    const others = name === 'REDIS_SENTINEL_URLS' ? { REDIS_URL: PRIMARY } : {};
    const complaint = complaintAbout({ ...others, [name]: value });
    expect(complaint).toMatch(new RegExp(`${name} .*${problem}`));
    expect([...namedIn(complaint)]).toEqual([name]);
    expect(complaint).not.toContain(value);
  });

  it.each([
    ['REDIS_CLUSTER_URLS', { REDIS_URL: PRIMARY, REDIS_CLUSTER_URLS: CLUSTER }],
    ['REDIS_CLUSTER_URLS', { REDIS_SENTINEL_URLS: SENTINELS, REDIS_CLUSTER_URLS: CLUSTER }],
    ['REDIS_CLUSTER_URLS', { REDIS_URL: PRIMARY, REDIS_SENTINEL_URLS: SENTINELS, REDIS_CLUSTER_URLS: CLUSTER }],
    ['REDIS_URL', { REDIS_SENTINEL_URLS: SENTINELS }],
    ['REDIS_URL', { REDIS_URL: `${PRIMARY}:6379`, REDIS_SENTINEL_URLS: SENTINELS }],
    ['REDIS_URL', { REDIS_URL: 'redis:///0', REDIS_SENTINEL_URLS: SENTINELS }],
    ['REDIS_URL', { REDIS_URL: 'nowhere', REDIS_SENTINEL_URLS: SENTINELS }],
  ])('names %s when Redis settings contradict each other: %j', (name, settings) => {
    const complaint = complaintAbout(settings);
    expect([...namedIn(complaint)]).toEqual([name]);
    for (const value of Object.values(settings)) expect(complaint).not.toContain(value);
  });
});
