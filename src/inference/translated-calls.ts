import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { Clock } from '../common/time/clock.js';
import type { StreamMeter, UsageEstimate } from '../gateway/billable-use.js';
import { pricedModel, type ProviderContext } from '../gateway/provider-context.decorator.js';
import type { UpstreamAnswer } from '../upstream/upstream.types.js';
import { modelFacts } from '../usage/models/model-catalogue.js';
import { bodyObject } from './body-object.js';
import type { Dialect } from './dialects/dialect.types.js';
import { readModel } from './dialects/read-facts.js';
import { serverTraits } from './server-traits.js';
import { parseForTranslation } from './translators/exact-arguments.js';
import { translatedRefusal } from './translators/refusals.js';
import { TranslatedMeter } from './translators/translated-meter.js';
import { isResponseForChat, responsesForChat } from './translators/responses-for-chat/responses-for-chat.js';
import type { Translation, Translator } from './translators/translator.types.js';
import { eventFormOf, translatorFor } from './translators/translators.js';

const MAX_BETAS = 32;

/** The parts of a dialect that the client sees. */
export type CallersDialect = Pick<Dialect, 'slug' | 'endpoint' | 'suffix' | 'framing' | 'toErrorEvent'>;

/** A call in another dialect than the client's. */
export interface TranslatedCall {
  readonly dialect: CallersDialect;
  readonly translation: Translation;
  readonly callersNames: Translator['callersNames'];
}

/**
 * The translator for a target that does not speak the dialect, or for a body in the form of another dialect; undefined
 * when none is needed or exists.
 */
export function neededTranslator(
  { slug, suffix }: Pick<CallersDialect, 'slug' | 'suffix'>,
  { virtualKey: { provider, credential }, bytes }: ProviderContext,
  members: JsonObject,
): Translator | undefined {
  const { dialects } = provider;
  // Only calls of models can be translated, not their other operations.
  if (dialects === undefined || suffix !== undefined) return undefined;
  const model = readModel(members);
  const speaks = (dialect: Dialect['slug']): boolean =>
    dialects[dialect]?.(model, credential.options, false) !== undefined;
  if (slug === 'openai-chat' && bytes !== undefined && isResponseForChat(bytes))
    return forChat(speaks, provider.mayLackResponses === true);
  // The virtual key prefers another API of the provider to its chats API.
  const isUnwanted = slug === 'openai-chat' && credential.options.chats === 'translate';
  return speaks(slug) && !isUnwanted ? undefined : translatorFor(slug, speaks);
}

/**
 * The translator for a response request at the chat route. It is sent as a response when the provider certainly
 * supports that, or else translated further.
 */
function forChat(speaks: (dialect: Dialect['slug']) => boolean, mayLackResponses: boolean): Translator | undefined {
  const hasResponses = speaks('openai-responses');
  const isSent = hasResponses && !(mayLackResponses && speaks('openai-chat'));
  const onward = isSent ? undefined : translatorFor('openai-responses', speaks);
  return isSent || onward !== undefined ? responsesForChat(onward) : undefined;
}

@Injectable()
export class TranslatedCalls {
  constructor(private readonly clock: Clock) {}

  /**
   * Translates the request. Options that are left out are named in `x-gateway-warnings`.
   * @throws GatewayError `unsupported_parameter`, `validation_failed`
   */
  translate(
    translator: Translator,
    dialect: CallersDialect,
    context: ProviderContext,
    members: JsonObject,
    headers: IncomingHttpHeaders,
  ): TranslatedCall {
    const { virtualKey, request, answer } = context;
    const { provider } = virtualKey;
    const traits = serverTraits(virtualKey);
    const model = readModel(members);
    const translation = translator.translate(
      { ...bodyObject(context.bytes ?? Buffer.alloc(0), parseForTranslation), model },
      {
        provider: provider.slug,
        pricedModel: pricedModel(context, model),
        refusesMaxTokens: traits.refusesMaxTokens,
        reasoningField: traits.reasoningField,
        maxOutput: modelFacts(provider.slug, pricedModel(context, model))?.maxOutput,
        answerId: request.trace.traceId,
        now: Math.floor(this.clock.now().getTime() / 1_000),
        betas: betasIn(headers),
      },
    );
    noteLeftOut(translation.leftOut, context);
    answer.setHeader('x-gateway-translated', translator.name);
    return { dialect, translation, callersNames: translator.callersNames };
  }
}

/** The estimate, with the client's name of the unbounded field. */
export function inCallersWords(estimate: UsageEstimate, translated: TranslatedCall | undefined): UsageEstimate {
  const { unbounded } = estimate;
  if (translated === undefined || unbounded === undefined) return estimate;
  return { ...estimate, unbounded: translated.callersNames[unbounded] ?? unbounded };
}

/** @param meter the meter of the provider's dialect */
export function translatedMeter(meter: StreamMeter, { dialect, translation }: TranslatedCall): TranslatedMeter {
  return new TranslatedMeter(meter, translation, eventFormOf(dialect.slug));
}

/** The provider's refusal in the client's dialect. */
export function refusalFor({ dialect }: TranslatedCall, answer: UpstreamAnswer): UpstreamAnswer {
  return translatedRefusal(answer, dialect.slug);
}

/** The beta flags of the client, at most 32. */
function betasIn({ 'anthropic-beta': betas }: IncomingHttpHeaders): readonly string[] {
  const names = [betas ?? []].flat().join(',').split(',', MAX_BETAS);
  return names.map((name) => name.trim()).filter((name) => name !== '');
}

function noteLeftOut(
  fields: readonly string[],
  { strict, answer, virtualKey: { provider } }: Pick<ProviderContext, 'strict' | 'answer' | 'virtualKey'>,
): void {
  if (fields.length === 0) return;
  if (strict) {
    const details = fields.map((param) => ({ param, message: `${param} cannot be translated for ${provider.slug}` }));
    const message = details.map((detail) => detail.message).join('; ');
    throw new GatewayError('unsupported_parameter', { message, details });
  }
  const warnings = fields.map((param) => `unsupported_parameter; param=${param}; provider=${provider.slug}`);
  answer.setHeader('x-gateway-warnings', warnings.join(', '));
}
