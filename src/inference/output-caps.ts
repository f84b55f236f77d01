import type { Response } from 'express';
import { GatewayError } from '../common/errors/gateway.error.js';
import { UpstreamFailure } from '../upstream/upstream.types.js';
import type { Dialect, InferenceCall, InferenceFacts } from './dialects/dialect.types.js';

/** In tokens. To fit a call, its cap is never lowered below this. */
const LEAST_CLAMPED = 1_024;
const HEADER = 'x-gateway-max-tokens';

/** Returns the call with the cap of its model route, when its own cap is higher or missing. */
export function cappedCall<Facts extends InferenceFacts>(
  { withOutputCap }: Pick<Dialect<Facts>, 'withOutputCap'>,
  call: InferenceCall<Facts>,
  routeCap: number | null | undefined,
  response: Pick<Response, 'setHeader'>,
): InferenceCall<Facts> {
  if (typeof routeCap !== 'number' || withOutputCap === undefined) return call;
  if ((capOf(call) ?? Infinity) <= routeCap) return call;
  response.setHeader(HEADER, routeCap);
  return withOutputCap(call, routeCap);
}

/** The room that usage limits have for a call. */
export interface OutputRoom {
  /** The tokens for all answers of the call together. */
  readonly tokens: number;
  /** The tokens that the call needed. */
  readonly bound: number;
}

/** Returns the call with a cap that fits into its usage limits; undefined when there is not enough room. */
export function clampedCall<Facts extends InferenceFacts>(
  { withOutputCap }: Pick<Dialect<Facts>, 'withOutputCap'>,
  call: InferenceCall<Facts>,
  { tokens, bound }: OutputRoom,
  response: Pick<Response, 'setHeader'>,
): InferenceCall<Facts> | undefined {
  const before = capOf(call);
  if (withOutputCap === undefined || before === undefined || bound === 0) return undefined;
  const cap = Math.floor((tokens / bound) * before);
  if (cap < Math.max(LEAST_CLAMPED, call.facts.leastOutputCap ?? 0)) return undefined;
  response.setHeader(HEADER, cap);
  return withOutputCap(call, cap);
}

/** Removes the header of the cap when the call was refused before it was sent. */
export function withdrawCap(error: unknown, response: Pick<Response, 'headersSent' | 'removeHeader'>): void {
  if (!response.headersSent && !wasSent(error)) response.removeHeader(HEADER);
}

function wasSent(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.source !== 'provider') return false;
  return !(error.cause instanceof UpstreamFailure) || error.cause.wasSent;
}

/** The cap of each answer. */
function capOf({ facts, knownModel }: InferenceCall): number | undefined {
  return facts.outputCap ?? knownModel?.maxOutput;
}
