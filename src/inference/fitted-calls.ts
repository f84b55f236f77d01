import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { LimitRoom, UsageEstimate } from '../gateway/billable-use.js';
import { pricedModel, type ProviderContext } from '../gateway/provider-context.decorator.js';
import type { Dialect, InferenceCall, InferenceFacts } from './dialects/dialect.types.js';
import { clampedCall } from './output-caps.js';
import { encodingOf } from './token-counts/encodings.js';
import { TokenCounter } from './token-counts/token-counter.js';

/** An upper estimate: English has four bytes per token. A call that would not fit even then is not counted. */
const MOST_BYTES_PER_TOKEN = 8;

/** A call that usage limits refused. */
export interface RefusedCall<Facts extends InferenceFacts> {
  readonly dialect: Pick<Dialect<Facts>, 'withOutputCap'>;
  readonly call: InferenceCall<Facts>;
  readonly estimateOf: (call: InferenceCall<Facts>) => UsageEstimate;
  readonly room: LimitRoom;
  /** Whether its output cap may be lowered. */
  readonly isClamped: boolean;
}

/** Makes refused calls fit into their usage limits. */
@Injectable()
export class FittedCalls {
  constructor(private readonly counter: TokenCounter) {}

  /** Returns the call with its input counted and, if needed, a lower output cap; undefined when it does not fit. */
  async fitted<Facts extends InferenceFacts>(
    context: ProviderContext,
    refused: RefusedCall<Facts>,
    response: Response,
  ): Promise<InferenceCall<Facts> | undefined> {
    const { dialect, call, estimateOf, room, isClamped } = refused;
    const counted = await this.counted(context, refused);
    if (counted !== undefined && room.fits(estimateOf(counted))) return counted;
    if (!isClamped) return undefined;
    const best = counted ?? call;
    const estimate = estimateOf(best);
    const output = { tokens: room.outputFor(estimate), bound: estimate.counts.output ?? 0 };
    return clampedCall(dialect, best, output, response);
  }

  /** Counts the input; undefined when the tokeniser is not known, counting cannot help, or takes too long. */
  private async counted<Facts extends InferenceFacts>(
    context: ProviderContext,
    { call, estimateOf, room, isClamped }: RefusedCall<Facts>,
  ): Promise<InferenceCall<Facts> | undefined> {
    const encoding = encodingOf(context.virtualKey.provider.slug, pricedModel(context, call.facts.model));
    if (encoding === undefined) return undefined;
    const estimate = estimateOf(call);
    const { input = 0, output } = estimate.counts;
    const least = { input: Math.floor(input / MOST_BYTES_PER_TOKEN), output: isClamped ? 0 : output };
    if (!room.fits({ ...estimate, counts: { ...estimate.counts, ...least } })) return undefined;
    const savedTokens = await this.counter.savedTokens(context.principal.organisationId, call.bytes, encoding);
    return savedTokens === undefined ? undefined : { ...call, savedTokens };
  }
}
