import { type BodyFilter, UpstreamFailure } from '../upstream/upstream.types.js';
import type { StreamMeter } from './billable-use.js';

/**
 * Fails a metered stream that ends without its end mark. Without a content length, a closed connection looks like the
 * end of an answer.
 * @param call whose meter reads the answer of the current attempt
 */
export function untilEndMark(
  metered: BodyFilter,
  call: { readonly meter: Pick<StreamMeter, 'isCutShort'> | undefined },
): BodyFilter {
  return {
    push: (chunk) => metered.push(chunk),
    end: () => {
      const rest = metered.end();
      if (call.meter?.isCutShort !== true) return rest;
      throw new UpstreamFailure('incomplete', 'the stream ended without its end mark');
    },
  };
}
