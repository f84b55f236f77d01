import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ERROR_CODES } from '../common/errors/error-codes.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { noteLongAnswer } from '../common/http/long-answers.js';
import { walkFields } from '../common/json/fields.js';
import { isObject, type JsonObject } from '../common/json/read.js';
import { AppConfig } from '../config/environment.js';
import type { BillableStream, LimitRoom, StreamMeter, UsageEstimate } from '../gateway/billable-use.js';
import { assertEveryModelAllowed, restrictsModels } from '../model-routes/model-access.js';
import { pricedModel, type ProviderContext } from '../gateway/provider-context.decorator.js';
import { type ProviderOperation, ProviderCallService } from '../gateway/provider-call.service.js';
import { type AttemptOfRoute, RoutedCalls } from '../gateway/routing/routed-calls.js';
import { passedHeaders } from '../upstream/passed-headers.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import { firstHeader, type RetryMode, type UpstreamAnswer, type UpstreamHead } from '../upstream/upstream.types.js';
import { modelFacts } from '../usage/models/model-catalogue.js';
import type { Dialect, InferenceCall, InferenceFacts, RelayedRequest } from './dialects/dialect.types.js';
import { anthropicMessages } from './dialects/anthropic-messages/messages.dialect.js';
import { openaiChat } from './dialects/openai-chat/chat.dialect.js';
import { openaiCompletions } from './dialects/openai-completions/completions.dialect.js';
import { openaiEmbeddings } from './dialects/openai-embeddings.dialect.js';
import { readModel } from './dialects/read-facts.js';
import { openaiResponses } from './dialects/openai-responses/responses.dialect.js';
import { requestedModes } from './dialects/service-mode.js';
import { DrainedCalls, OutlivingSink } from './drained-calls.js';
import { FittedCalls } from './fitted-calls.js';
import { HeldStream } from './held-stream.js';
import { IsolatedCalls } from './isolated-calls.js';
import { StreamUsageRefusals } from './stream-usage-refusals.js';
import { cappedCall, withdrawCap } from './output-caps.js';

const DIALECTS = [openaiChat, openaiCompletions, openaiResponses, openaiEmbeddings, anthropicMessages];
/** Of an error of the provider, what its caller gets besides its body and status. */
const ERROR_HEADERS = ['content-type', 'retry-after', 'retry-after-ms', 'x-should-retry'] as const;
/** No proxy may keep or change a stream of events, or hold back a part of it. */
const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' } as const;

interface Target {
  readonly path: string;
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is known of a call before it is sent. */
interface PreparedCall<Facts extends InferenceFacts> {
  readonly call: InferenceCall<Facts>;
  readonly target: Target;
  /** Of the body, that the dialect reads. */
  readonly members: JsonObject;
  readonly noteRoom?: BillableStream['noteRoom'];
}

type NoteRefusal = (answer: UpstreamAnswer | undefined) => void;

/** How a call is made at one target. */
interface Attempt extends AttemptOfRoute {
  /** Gets the refusal of the provider that the caller is to have; undefined: there is none yet. */
  readonly noteRefusal: NoteRefusal;
}

/** Relays calls of models: the bytes of the caller to the provider, and those of the provider to the caller. */
@Injectable()
export class InferenceService {
  private readonly usageRefusals = new StreamUsageRefusals();

  constructor(
    private readonly calls: ProviderCallService,
    private readonly isolated: IsolatedCalls,
    private readonly drained: DrainedCalls,
    private readonly fitting: FittedCalls,
    private readonly routed: RoutedCalls,
    private readonly providers: ProviderRegistry,
    private readonly config: AppConfig,
    offered: OfferedEndpoints,
  ) {
    for (const { slug, endpoint } of DIALECTS) {
      offered.add(this.speakersOf(slug).map((provider) => ({ endpoint, provider, isMetered: true })));
    }
  }

  /** A call that costs. @param members of the body that the dialect reads */
  async run<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
  ): Promise<void> {
    noteLongAnswer(response);
    await this.passingErrors(context, response, (noteRefusal) =>
      this.routed.run(context, (current, route) =>
        this.runAt(dialect, current, named(members, route), response, { ...route, noteRefusal }),
      ),
    );
  }

  /** The call at one target of its model route, or at the one that it names. */
  private async runAt<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
    attempt: Attempt,
  ): Promise<void> {
    attempt.noteRefusal(undefined);
    const facts = dialect.readFacts(members);
    const target = await this.targetOf(dialect, context, facts.model, response.req.headers);
    const { provider } = context.virtualKey;
    const asked = {
      facts,
      bytes: target.bytes,
      knownModel: modelFacts(provider.slug, pricedModel(context, facts.model)),
      // An answer that comes whole shows nothing until the model has written all of it.
      hidesReasoning: provider.hidesReasoning === true || !facts.isStream,
      refusesMaxTokens: provider.refusesMaxTokens === true,
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
      // The decision that counts is the next one.
      context.request.facts.limit_decision = undefined;
      await this.relay(dialect, context, { call: fitted, target, members }, response, attempt);
    }
  }

  private async relay<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    { call, target, members, noteRoom }: PreparedCall<Facts>,
    response: Response,
    { noteRefusal, hasNext, model }: Attempt,
  ): Promise<void> {
    const { provider, credential } = context.virtualKey;
    const { facts } = call;
    const isDrained = credential.options.on_disconnect === 'drain';
    const body = provider.reportsStreamUsage === true ? call.bytes : dialect.bodyOf(call);
    let recorded: Promise<void> | undefined;
    let meter: StreamMeter | undefined;
    let held: HeldStream | undefined;
    const hasFailed = (): boolean => hasNext && meter?.failure !== undefined && isPassable(meter.failure);
    const onId = (id: string): void => {
      if (dialect.creates === undefined) return;
      recorded = this.isolated.record(context, dialect.creates, id);
      // Of a stream, the failure is in the log.
      recorded.catch(() => undefined);
    };
    const use: BillableStream = {
      endpoint: dialect.endpoint,
      model: facts.model,
      estimate: () => estimateOf(dialect, call, members),
      newMeter: () => (meter = dialect.newMeter(call, onId)),
      noteRoom,
    };
    const streams = {
      takesEvents: facts.isStream,
      defaultTimeoutMs: this.config.INFERENCE_TIMEOUT_MS,
      maxFirstByteMs: hasNext && facts.isStream ? this.config.ROUTE_FIRST_BYTE_MS : undefined,
      sinkFor: (head: UpstreamHead) => {
        if (!isStream(head)) return undefined;
        const begin = (): Writable => {
          beginStream(dialect, response, head);
          return isDrained ? new OutlivingSink(response) : response;
        };
        if (!hasNext) return begin();
        held = new HeldStream({ begin, hasOutput: () => meter?.hasOutput === true, hasFailed });
        return held;
      },
    };
    // Another target answers sooner than this one would after a pause.
    const ofRoute: RetryMode = hasNext ? 'never' : 'refused';
    const retry: RetryMode = model === undefined ? 'connect' : ofRoute;
    const server = `${context.virtualKey.id} ${facts.model}`;
    const bodies = { asking: body, plain: call.bytes };
    try {
      const answer = await this.usageRefusals.send(server, bodies, noteRefusal, (bytes, note) => {
        const sent = asItCame(response.req, { ...target, bytes });
        const operation = { ...operationOf(dialect, facts.model, sent, note), retry };
        if (!isDrained) return this.calls.streamBillable(context, operation, use, streams);
        return this.drained.run(context.request.caller, (caller) =>
          this.calls.streamBillable(context, operation, use, { ...streams, caller }),
        );
      });
      if (held?.isFailed === true || (answer.body !== undefined && hasFailed())) throw errorInstead(answer.status);
      if (answer.body === undefined) return;
      await recorded;
      reply(response, { ...answer, body: answer.body });
    } catch (error) {
      withdrawCap(error, response);
      throw error;
    }
  }

  /** A call that is free. @param members of the body that are read */
  async runFree(
    request: RelayedRequest,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
  ): Promise<void> {
    await this.passingErrors(context, response, (noteRefusal) =>
      this.routed.run(context, async (current, route) => {
        noteRefusal(undefined);
        const model = readModel(named(members, route));
        const target = await this.targetOf(request, current, model, response.req.headers);
        const operation = operationOf(request, model, asItCame(response.req, target), noteRefusal);
        const retry = route.hasNext ? 'never' : operation.retry;
        reply(response, await this.calls.run(current, { ...operation, retry }));
      }),
    );
  }

  /** @throws GatewayError `provider_not_supported`, `operation_not_offered`, `model_not_allowed`, `not_found` */
  private async targetOf(
    request: RelayedRequest,
    context: ProviderContext,
    model: string,
    given: IncomingHttpHeaders,
  ): Promise<Target> {
    const { virtualKey, principal, bytes } = context;
    const { provider, credential } = virtualKey;
    const path = provider.dialects?.[request.slug]?.(model, credential.options);
    if (path === undefined || bytes === undefined) throw this.notSpoken(request);
    if (restrictsModels(principal) && namesOtherModels(bytes)) assertEveryModelAllowed(principal);
    await this.isolated.assertOwn(context, request.uses, bytes);
    const headers = { ...request.headersOf?.(given), ...this.isolated.idempotencyHeader(context, given) };
    return { path: path + (request.suffix ?? ''), bytes, headers };
  }

  /** An error of the provider passes as the provider words it: clients recover by these words. */
  private async passingErrors(
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

  private speakersOf(dialect: Dialect['slug']): readonly string[] {
    return this.providers
      .all()
      .filter(({ dialects }) => dialects?.[dialect] !== undefined)
      .map(({ slug }) => slug);
  }

  private notSpoken({ slug, suffix }: Pick<RelayedRequest, 'slug' | 'suffix'>): GatewayError {
    // Clients do without what is not there.
    const code = suffix === undefined ? 'provider_not_supported' : 'operation_not_offered';
    const message = `${ERROR_CODES[code].message} These providers do: ${this.speakersOf(slug).join(', ')}.`;
    return new GatewayError(code, { message });
  }
}

/** Of what the request says, and of what its dialect and its mode add. */
function estimateOf<Facts extends InferenceFacts>(
  dialect: Dialect<Facts>,
  call: InferenceCall<Facts>,
  members: JsonObject,
): UsageEstimate {
  return { ...dialect.estimate(call), mayUse: dialect.mayUse, modes: requestedModes(members) };
}

/** The members of a body, with the name that its model has at the target. */
function named(members: JsonObject, { model }: AttemptOfRoute): JsonObject {
  return model === undefined || model === members['model'] ? members : { ...members, model };
}

/** An answer of success that holds nothing but an error. Its caller never sees it, while another target can answer. */
function errorInstead(status: number): GatewayError {
  const reason = 'an error instead of an answer';
  return new GatewayError('provider_failed', { reason, provider: { status } });
}

/** The statuses, and the words, of an error that is about the request: every provider would say the same. */
const ABOUT_REQUEST: ReadonlySet<unknown> = new Set([400, 404, 413, 422, '400', '404', '413', '422']);
const INVALID = /invalid_request|invalid_prompt|not_found|too_large|context_length|content_filter/;

/** Whether another target may do better than this error. */
function isPassable(failure: JsonObject): boolean {
  const { error, response } = failure;
  const said = [failure, error, isObject(response) ? response['error'] : undefined].filter(isObject);
  return !said.some(
    ({ code, status, type }) =>
      ABOUT_REQUEST.has(code) ||
      ABOUT_REQUEST.has(status) ||
      [code, type].some((word) => typeof word === 'string' && INVALID.test(word)),
  );
}

function isStream({ status, headers }: UpstreamHead): boolean {
  const type = (firstHeader(headers, 'content-type') ?? '').toLowerCase();
  return status >= 200 && status <= 299 && type.startsWith('text/event-stream');
}

function beginStream(
  { toErrorEvent }: Pick<Dialect, 'toErrorEvent'>,
  response: Response,
  { status, headers }: UpstreamHead,
): void {
  response.statusCode = status;
  response.setHeader('content-type', firstHeader(headers, 'content-type') ?? 'text/event-stream');
  for (const [name, value] of Object.entries(STREAM_HEADERS)) response.setHeader(name, value);
  response.req.errorEvent = toErrorEvent;
  response.flushHeaders();
}

function reply(response: Response, { status, headers, body }: UpstreamAnswer): void {
  const type = firstHeader(headers, 'content-type') ?? 'application/json';
  response.writeHead(status, { 'content-type': type, 'content-length': body.length });
  response.end(body);
}

function operationOf(
  request: RelayedRequest,
  model: string,
  { path, bytes, headers }: Target,
  noteRefusal: (answer: UpstreamAnswer) => void,
): ProviderOperation {
  return {
    operation: request.endpoint,
    model,
    request: { method: 'POST', path, headers, bytes },
    retry: 'connect',
    noteRefusal,
  };
}

/** A compressed body in which nothing was changed goes on as it is. */
function asItCame({ encodedBody }: Request, target: Target): Target {
  if (encodedBody === undefined || encodedBody.json !== target.bytes) return target;
  const { bytes, coding } = encodedBody;
  return { ...target, bytes, headers: { ...target.headers, 'content-encoding': coding } };
}

/** Providers may turn to these when the model does not answer. */
const OTHER_MODELS: ReadonlySet<string> = new Set(['models', 'fallbacks']);

function namesOtherModels(body: Buffer): boolean {
  let found = false;
  const isWhole = walkFields(body, ({ name, depth, isNull }) => {
    found ||= depth === 1 && !isNull && OTHER_MODELS.has(name);
  });
  return found || !isWhole;
}

function replyRefusal(response: Response, answer: UpstreamAnswer): void {
  for (const [name, value] of Object.entries(passedHeaders(answer.headers))) response.setHeader(name, value);
  for (const name of ERROR_HEADERS) {
    const value = firstHeader(answer.headers, name);
    if (value !== undefined) response.setHeader(name, value);
  }
  reply(response, answer);
}
