import { type BodyFilter, UpstreamFailure } from '../upstream/upstream.types.js';
import type { StreamMeter } from './billable-use.js';

/**
 * The filter of a metered stream, which fails where the provider ends the stream without its end mark. Where no length is known, a
 * connection that closes looks like the end of an answer.
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
