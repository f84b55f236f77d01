import { ToList } from '../common/validation/conversion.decorators.js';
import { AreRedisUrls, IsRedisUrl, OptionalSetting } from './setting.decorators.js';
import { SecretSettings } from './secret-settings.js';

/** Where the optional Redis is: one server, those that sentinels watch, or a cluster. */
export class RedisSettings extends SecretSettings {
  /** Absent, and no cluster either: rate limits are counted in each process. */
  @OptionalSetting()
  @IsRedisUrl()
  readonly REDIS_URL?: string;

  /** Sentinels, which know the primary. The host of REDIS_URL is the name that they have for it and its replicas. */
  @ToList()
  @AreRedisUrls()
  readonly REDIS_SENTINEL_URLS: readonly string[] = [];

  /** First nodes of a Redis Cluster, instead of REDIS_URL. */
  @ToList()
  @AreRedisUrls()
  readonly REDIS_CLUSTER_URLS: readonly string[] = [];
}

/** What is wrong with settings that are each right for themselves. */
export function redisProblems(settings: RedisSettings): readonly string[] {
  const { REDIS_URL: url, REDIS_SENTINEL_URLS: sentinels, REDIS_CLUSTER_URLS: cluster } = settings;
  if (cluster.length > 0 && sentinels.length > 0) {
    return ['REDIS_CLUSTER_URLS is for a cluster, which has no sentinels: set it or REDIS_SENTINEL_URLS'];
  }
  if (cluster.length > 0 && url !== undefined) {
    return ['REDIS_CLUSTER_URLS is for a cluster, and REDIS_URL for one server: set one of them'];
  }
  if (sentinels.length === 0) return [];
  if (url === undefined) {
    return [
      'REDIS_URL is required with REDIS_SENTINEL_URLS: its host is the name that the sentinels have for the primary',
    ];
  }
  // A value that is not a URL has its own complaint.
  if (!URL.canParse(url)) return [];
  const { hostname, port } = new URL(url);
  if (hostname !== '' && port === '') return [];
  return ['REDIS_URL must have the name of the primary as its host, and no port, with REDIS_SENTINEL_URLS'];
}
