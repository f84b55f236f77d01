import { GatewayError } from '../common/errors/gateway.error.js';
import { slugFromName, withSuffix } from '../common/slug.js';
import { violatedUniqueIndex } from './database-errors.js';

const MAX_TRIES = 5;

/**
 * Runs an insert with the wanted slug, or with one made from the name. The database decides what is taken: a made slug is
 * tried again with a suffix, a wanted one that is taken is a `conflict`.
 */
export async function withFreeSlug<Result>(
  wanted: string | undefined,
  name: string,
  insert: (slug: string) => Promise<Result>,
): Promise<Result> {
  let slug = wanted ?? slugFromName(name);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await insert(slug);
    } catch (error) {
      if (violatedUniqueIndex(error)?.endsWith('slug') !== true) throw error;
      if (wanted !== undefined || attempt === MAX_TRIES) throw slugTaken();
      slug = withSuffix(slugFromName(name));
    }
  }
}

function slugTaken(): GatewayError {
  return new GatewayError('conflict', { message: 'slug is already taken', param: 'slug' });
}
