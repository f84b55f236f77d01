import type { BodyWatcher } from '../../upstream/stream-exchange.js';
import type { BodyFilter } from '../../upstream/upstream.types.js';

/** Runs the filters one after the other; undefined when there is none. */
export function filterChain(...filters: readonly (BodyFilter | undefined)[]): BodyFilter | undefined {
  return filters.reduce(
    (before, after) => (before && after ? new TwoFilters(before, after) : (before ?? after)),
    undefined,
  );
}

class TwoFilters implements BodyFilter {
  constructor(
    private readonly first: BodyFilter,
    private readonly second: BodyFilter,
  ) {}

  push(chunk: Buffer): Buffer {
    return this.second.push(this.first.push(chunk));
  }

  end(): Buffer {
    return Buffer.concat([this.second.push(this.first.end()), this.second.end()]);
  }
}

/** Passes each piece of an answer to both watchers; undefined when there is none. */
export function bothWatchers(first: BodyWatcher | undefined, second: BodyWatcher | undefined): BodyWatcher | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return {
    push: (chunk) => {
      first.push(chunk);
      second.push(chunk);
    },
    end: () => {
      first.end();
      second.end();
    },
  };
}
