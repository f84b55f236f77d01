import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ERROR_CODES } from '../common/errors/error-codes.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { noteLongAnswer } from '../common/http/long-answers.js';
import { stringifyLongNumbers } from '../common/json/numbers.js';
import type { JsonObject } from '../common/json/read.js';
import { AppConfig } from '../config/environment.js';
import type { BillableStream, LimitRoom, UsageEstimate } from '../gateway/billable-use.js';
import { assertEveryModelAllowed, restrictsModels } from '../model-routes/model-access.js';
import { pricedModel, type ProviderContext } from '../gateway/provider-context.decorator.js';
import { hiddenOf, ProviderCallService } from '../gateway/provider-call.service.js';
import { ResponsePins } from '../gateway/routing/response-pins.js';
import { type AttemptOfRoute, RoutedCalls } from '../gateway/routing/routed-calls.js';
import { callerAccount } from '../upstream/providers/caller-account.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import type { RetryMode, UpstreamAnswer } from '../upstream/upstream.types.js';
import { modelFacts } from '../usage/models/model-catalogue.js';
import { type AnswerPlan, AnswerRelay, estimateOf } from './answer-relay.js';
import { bedrockConverse } from './dialects/bedrock/converse.dialect.js';
import { DIALECTS } from './dialects/dialects.js';
import { gemini } from './dialects/gemini/gemini.dialect.js';
import type { Dialect, InferenceCall, InferenceFacts, RelayedRequest } from './dialects/dialect.types.js';
import { anthropicMessages } from './dialects/anthropic-messages/messages.dialect.js';
import { openaiChat } from './dialects/openai-chat/chat.dialect.js';
import { openaiResponses } from './dialects/openai-responses/responses.dialect.js';
import { readModel } from './dialects/read-facts.js';
import { DrainedCalls } from './drained-calls.js';
import { FittedCalls } from './fitted-calls.js';
import { IsolatedCalls } from './isolated-calls.js';
import { namesOtherModels } from './other-models.js';
import { reply, replyRefusal } from './replies.js';
import { withOriginalEncoding, operationOf, passedQuery, type Target } from './target.js';
import { serverTraits } from './server-traits.js';
import { StreamUsageRefusals } from './stream-usage-refusals.js';
import {
  type CallersDialect,
  neededTranslator,
  refusalFor,
  type TranslatedCall,
  TranslatedCalls,
} from './translated-calls.js';
import { translatorFor } from './translators/translators.js';
import type { Translator } from './translators/translator.types.js';
import { cappedCall, withdrawCap } from './output-caps.js';

const NO_BYTES = Buffer.alloc(0);

/** A call that is ready to be sent. */
interface PreparedCall<Facts extends InferenceFacts> {
  readonly call: InferenceCall<Facts>;
  readonly target: Target;
  /** The members of the body that the dialect reads. */
  readonly members: JsonObject;
  readonly noteRoom?: BillableStream['noteRoom'];
}

type NoteRefusal = (answer: UpstreamAnswer | undefined) => void;

/** The sending of a call to one target. */
interface Attempt extends AttemptOfRoute {
  /** Receives the provider's refusal for the client; undefined resets it. */
  readonly noteRefusal: NoteRefusal;
  /** Set when the provider does not speak the client's dialect. */
  readonly translated?: TranslatedCall;
}

/** Relays calls of models: forwards the client's bytes to the provider, and the provider's bytes to the client. */
@Injectable()
export class InferenceService {
  private readonly usageRefusals = new StreamUsageRefusals();

  constructor(
    private readonly calls: ProviderCallService,
    private readonly isolated: IsolatedCalls,
    private readonly drained: DrainedCalls,
    private readonly fitting: FittedCalls,
    private readonly routed: RoutedCalls,
    private readonly translated: TranslatedCalls,
    private readonly pins: ResponsePins,
    private readonly providers: ProviderRegistry,
    private readonly config: AppConfig,
    offered: OfferedEndpoints,
  ) {
    for (const { slug, endpoint } of DIALECTS) {
      offered.add(this.providersOffering(slug).map((provider) => ({ endpoint, provider, isMetered: true })));
    }
  }

  /**
   * Runs a billable call.
   * @param members the members of the body that the dialect reads
   */
  async run<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
  ): Promise<void> {
    noteLongAnswer(response);
    await this.withProviderErrors(context, response, (noteRefusal) =>
      this.routed.run(context, (current, route) =>
        this.runAtTarget(dialect, current, withTargetModel(members, route), response, { noteRefusal, ...route }),
      ),
    );
  }

  /** Sends a call to one target, translated when the target does not speak the client's dialect. */
  private async runAtTarget<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
    attempt: Attempt,
  ): Promise<void> {
    const translator = neededTranslator(dialect, context, members);
    if (translator === undefined) return this.runInDialect(dialect, context, members, response, attempt);
    return this.runTranslated(translator, dialect, context, members, response, attempt);
  }

  private async runTranslated(
    translator: Translator,
    dialect: CallersDialect,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
    attempt: Attempt,
  ): Promise<void> {
    const translated = this.translated.translate(translator, dialect, context, members, response.req.headers);
    const { body } = translated.translation;
    const current = { ...context, bytes: Buffer.from(stringifyLongNumbers(body)) };
    const noteRefusal: NoteRefusal = (answer) => attempt.noteRefusal(answer && refusalFor(translated, answer));
    const translatedAttempt = { ...attempt, noteRefusal, translated };
    switch (translator.to) {
      case 'openai-chat':
        return this.runInDialect(openaiChat, current, body, response, translatedAttempt);
      case 'openai-responses':
        return this.runInDialect(openaiResponses, current, body, response, translatedAttempt);
      case 'anthropic-messages':
        return this.runInDialect(anthropicMessages, current, body, response, translatedAttempt);
      case 'bedrock-converse': {
        // The path needs both.
        const { model, stream } = members;
        return this.runInDialect(bedrockConverse, current, { ...body, model, stream }, response, translatedAttempt);
      }
      case 'gemini': {
        const { model, stream } = members;
        return this.runInDialect(gemini, current, { ...body, model, stream }, response, translatedAttempt);
      }
    }
  }

  private async runInDialect<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
    attempt: Attempt,
  ): Promise<void> {
    attempt.noteRefusal(undefined);
    const facts = dialect.readFacts(members, context.bytes ?? NO_BYTES);
    const target = await this.targetOf(dialect, context, facts, response.req);
    const { hidesReasoning, refusesMaxTokens, reportsCost } = serverTraits(context.virtualKey);
    const asked = {
      facts,
      bytes: target.bytes,
      knownModel: modelFacts(context.virtualKey.provider.slug, pricedModel(context, facts.model)),
      // A whole answer shows no output before its end, as if the model reasoned first.
      hidesReasoning: hidesReasoning || !facts.isStream,
      refusesMaxTokens,
      reportsCost,
    };
    const output = context.modelNames?.route?.output;
    const call = cappedCall(dialect, asked, output?.maxTokens, response);
    let room: LimitRoom | undefined;
    const noteRoom = (left: LimitRoom): void => void (room = left);
    try {
      await this.relay(dialect, context, { call, target, members, noteRoom }, response, attempt);
    } catch (error) {
      if (room === undefined) throw error;
      const estimate = (current: typeof call): UsageEstimate => estimateOf(dialect, current, members);
      const refused = { dialect, call, estimateOf: estimate, room, isClamped: output?.isClamped === true };
      const fitted = await this.fitting.fitted(context, refused, response);
      if (fitted === undefined) throw error;
      // The limit decision about the fitted call replaces the refusal.
      context.request.facts.limit_decision = undefined;
      await this.relay(dialect, context, { call: fitted, target, members }, response, attempt);
    }
  }

  private async relay<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    prepared: PreparedCall<Facts>,
    response: Response,
    attempt: Attempt,
  ): Promise<void> {
    const { call, target } = prepared;
    const { isAskedForUsage } = serverTraits(context.virtualKey);
    const relay = this.answerRelay(dialect, context, prepared, response, attempt);
    const streams = this.streamsOf(relay, call.facts, attempt.hasNext, attempt.timeoutMs);
    const retry = retryModeOf(attempt);
    const server = `${context.virtualKey.id} ${call.facts.model}`;
    const bodies = { asking: isAskedForUsage ? dialect.bodyOf(call) : call.bytes, plain: call.bytes };
    try {
      const answer = await this.usageRefusals.send(server, bodies, attempt.noteRefusal, (bytes, note) => {
        const sent = withOriginalEncoding(response.req, { ...target, bytes });
        const operation = { ...operationOf(dialect, call.facts.model, sent, note), retry };
        if (!relay.isDrained) return this.calls.streamBillable(context, operation, relay, streams);
        return this.drained.run(context.request.caller, (caller) =>
          this.calls.streamBillable(context, operation, relay, { ...streams, caller }),
        );
      });
      await relay.complete(answer);
    } catch (thrown) {
      const error = relay.reasonFor(thrown);
      withdrawCap(error, response);
      throw error;
    }
  }

  private answerRelay<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    { call, members, noteRoom }: PreparedCall<Facts>,
    response: Response,
    { hasNext, translated }: Attempt,
  ): AnswerRelay<Facts> {
    return new AnswerRelay({
      dialect,
      call,
      members,
      noteRoom,
      response,
      hasNext,
      translated,
      isDrained: context.virtualKey.credential.options.on_disconnect === 'drain',
      secrets: hiddenOf(context).secrets,
      record: this.recorderFor(dialect, context, members),
    });
  }

  private streamsOf<Facts extends InferenceFacts>(
    { dialect, sinkFor }: AnswerRelay<Facts>,
    { isStream }: InferenceFacts,
    hasNext: boolean,
    timeoutMs = Infinity,
  ) {
    const { config } = this;
    const firstByteMs = Math.min(hasNext && isStream ? config.ROUTE_FIRST_BYTE_MS : Infinity, timeoutMs);
    const answerMs = hasNext && !isStream ? config.ROUTE_ANSWER_MS : Infinity;
    return {
      takesEvents: isStream,
      eventFraming: dialect.framing,
      defaultTimeoutMs: Math.min(config.INFERENCE_TIMEOUT_MS, answerMs),
      eventIdleMs: config.INFERENCE_STREAM_IDLE_MS,
      maxFirstByteMs: firstByteMs,
      maxTotalMs: isStream ? config.INFERENCE_STREAM_TIMEOUT_MS : undefined,
      sinkFor,
    };
  }

  /**
   * Returns a function that records the owner of the created object, and the virtual key for calls that continue it.
   */
  private recorderFor<Facts extends InferenceFacts>(
    { creates }: Dialect<Facts>,
    context: ProviderContext,
    members: JsonObject,
  ): AnswerPlan<Facts>['record'] {
    if (creates === undefined) return undefined;
    return async (id) => {
      const pinned = members['store'] === false ? undefined : this.pin(context, id);
      await this.isolated.record(context, creates, id);
      await pinned;
    };
  }

  /** Sends later calls that continue this answer to the account that stores it. */
  private async pin({ modelNames, principal, virtualKey }: ProviderContext, responseId: string): Promise<void> {
    if (modelNames?.route !== undefined) await this.pins.note(principal.organisationId, responseId, virtualKey.id);
  }

  /**
   * Runs a call that is free of charge.
   * @param members the members of the body that are read
   */
  async runFree(
    request: RelayedRequest,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
  ): Promise<void> {
    await this.withProviderErrors(context, response, (noteRefusal) =>
      this.routed.run(context, async (current, route) => {
        noteRefusal(undefined);
        const model = readModel(withTargetModel(members, route));
        const target = await this.targetOf(request, current, { model, isStream: false }, response.req);
        const operation = operationOf(request, model, withOriginalEncoding(response.req, target), noteRefusal);
        const retry = route.isTriedOnce ? 'never' : operation.retry;
        reply(response, await this.calls.run(current, { ...operation, retry }));
      }),
    );
  }

  /** @throws GatewayError `provider_not_supported`, `operation_not_offered`, `model_not_allowed`, `not_found` */
  private async targetOf(
    request: RelayedRequest,
    context: ProviderContext,
    { model, isStream }: Pick<InferenceFacts, 'model' | 'isStream'>,
    given: Pick<Request, 'headers' | 'query'>,
  ): Promise<Target> {
    const { virtualKey, principal, bytes } = context;
    const { provider, credential } = virtualKey;
    const path = provider.dialects?.[request.slug]?.(model, credential.options, isStream);
    if (path === undefined || bytes === undefined) throw this.notSpoken(request);
    if (restrictsModels(principal) && namesOtherModels(bytes)) assertEveryModelAllowed(principal);
    await this.isolated.assertOwn(context, request.uses, bytes);
    const account = callerAccount(credential.options, given.headers);
    const idempotency = this.isolated.idempotencyHeader(context, given.headers);
    const headers = { ...request.headersOf?.(given.headers), ...account, ...idempotency };
    const call = { path: path + (request.suffix ?? ''), body: request.withModel?.(bytes, model) ?? bytes };
    const sent = provider.adapt?.(call, model) ?? call;
    const query = { ...request.queryOf?.(isStream), ...passedQuery(request, provider, given.query) };
    return { path: sent.path, query, bytes: sent.body, headers };
  }

  /** Runs `work`, and replies with the provider's own error when it refuses: clients depend on its wording. */
  private async withProviderErrors(
    context: ProviderContext,
    response: Response,
    work: (noteRefusal: NoteRefusal) => Promise<void>,
  ): Promise<void> {
    let refused: UpstreamAnswer | undefined;
    try {
      await work((answer) => void (refused = answer));
    } catch (error) {
      if (refused === undefined || !(error instanceof GatewayError) || error.provider === undefined) throw error;
      context.request.facts.error_code = error.code;
      context.request.facts.error_reason = error.reason;
      replyRefusal(response, refused);
    }
  }

  /** The providers that speak the dialect, and those for which it is translated. */
  private providersOffering(dialect: Dialect['slug']): readonly string[] {
    return this.providers
      .all()
      .filter(({ dialects }) => {
        const speaks = (slug: Dialect['slug']): boolean => dialects?.[slug] !== undefined;
        return speaks(dialect) || translatorFor(dialect, speaks) !== undefined;
      })
      .map(({ slug }) => slug);
  }

  private providersSpeaking(dialect: Dialect['slug']): readonly string[] {
    return this.providers
      .all()
      .filter(({ dialects }) => dialects?.[dialect] !== undefined)
      .map(({ slug }) => slug);
  }

  private notSpoken({ slug, suffix }: Pick<RelayedRequest, 'slug' | 'suffix'>): GatewayError {
    // Clients handle a missing operation, so it has its own code.
    const code = suffix === undefined ? 'provider_not_supported' : 'operation_not_offered';
    const speakers = suffix === undefined ? this.providersOffering(slug) : this.providersSpeaking(slug);
    const message = `${ERROR_CODES[code].message} These providers do: ${speakers.join(', ')}.`;
    return new GatewayError(code, { message });
  }
}

/** A call of a route is retried at its target only when no other target can take it, which answers sooner than a retry. */
function retryModeOf({ model, isTriedOnce }: Attempt): RetryMode {
  if (model === undefined) return 'connect';
  return isTriedOnce ? 'never' : 'refused';
}

/** The members of a body, with the target's own name of the model. */
function withTargetModel(members: JsonObject, { model }: AttemptOfRoute): JsonObject {
  return model === undefined || model === members['model'] ? members : { ...members, model };
}
