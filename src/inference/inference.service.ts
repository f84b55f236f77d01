import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ERROR_CODES } from '../common/errors/error-codes.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { noteLongAnswer } from '../common/http/long-answers.js';
import { walkFields } from '../common/json/fields.js';
import type { JsonObject } from '../common/json/read.js';
import { AppConfig } from '../config/environment.js';
import { assertEveryModelAllowed, restrictsModels } from '../gateway/model-access.js';
import type { BillableStream, UsageEstimate } from '../gateway/billable-use.js';
import { pricedModel, type ProviderContext } from '../gateway/provider-context.decorator.js';
import { type ProviderOperation, ProviderCallService } from '../gateway/provider-call.service.js';
import { passedHeaders } from '../upstream/passed-headers.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import { firstHeader, type UpstreamAnswer, type UpstreamHead } from '../upstream/upstream.types.js';
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
import { IsolatedCalls } from './isolated-calls.js';
import { StreamUsageRefusals } from './stream-usage-refusals.js';
import { cappedCall, clampedCall, type OutputRoom, withdrawCap } from './output-caps.js';

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
  readonly noteOutputRoom?: BillableStream['noteOutputRoom'];
}

/** Relays calls of models: the bytes of the caller to the provider, and those of the provider to the caller. */
@Injectable()
export class InferenceService {
  private readonly usageRefusals = new StreamUsageRefusals();

  constructor(
    private readonly calls: ProviderCallService,
    private readonly isolated: IsolatedCalls,
    private readonly drained: DrainedCalls,
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
    const facts = dialect.readFacts(members);
    noteLongAnswer(response);
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
    let room: OutputRoom | undefined;
    const noteOutputRoom = output?.isClamped === true ? noteRoom : undefined;
    try {
      await this.relay(dialect, context, { call, target, members, noteOutputRoom }, response);
    } catch (error) {
      const clamped = room === undefined ? undefined : clampedCall(dialect, call, room, response);
      if (clamped === undefined) throw error;
      // The decision that counts is the next one.
      context.request.facts.limit_decision = undefined;
      await this.relay(dialect, context, { call: clamped, target, members }, response);
    }

    function noteRoom(tokens: number, bound: number): void {
      room = { tokens, bound };
    }
  }

  private async relay<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    { call, target, members, noteOutputRoom }: PreparedCall<Facts>,
    response: Response,
  ): Promise<void> {
    const { provider, credential } = context.virtualKey;
    const { facts } = call;
    const isDrained = credential.options.on_disconnect === 'drain';
    const body = provider.reportsStreamUsage === true ? call.bytes : dialect.bodyOf(call);
    let recorded: Promise<void> | undefined;
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
      newMeter: () => dialect.newMeter(call, onId),
      noteOutputRoom,
    };
    const streams = {
      takesEvents: facts.isStream,
      defaultTimeoutMs: this.config.INFERENCE_TIMEOUT_MS,
      sinkFor: (head: UpstreamHead) => {
        if (!isStream(head)) return undefined;
        beginStream(dialect, response, head);
        return isDrained ? new OutlivingSink(response) : response;
      },
    };
    await this.passingErrors(context, response, async (noteRefusal) => {
      const server = `${context.virtualKey.id} ${facts.model}`;
      const bodies = { asking: body, plain: call.bytes };
      const answer = await this.usageRefusals.send(server, bodies, noteRefusal, (bytes, note) => {
        const sent = asItCame(response.req, { ...target, bytes });
        const operation = operationOf(dialect, facts.model, sent, note);
        if (!isDrained) return this.calls.streamBillable(context, operation, use, streams);
        return this.drained.run(context.request.caller, (caller) =>
          this.calls.streamBillable(context, operation, use, { ...streams, caller }),
        );
      });
      if (answer.body === undefined) return;
      await recorded;
      reply(response, { ...answer, body: answer.body });
    }).catch((error: unknown) => {
      withdrawCap(error, response);
      throw error;
    });
  }

  /** A call that is free. @param members of the body that are read */
  async runFree(
    request: RelayedRequest,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
  ): Promise<void> {
    const model = readModel(members);
    const target = await this.targetOf(request, context, model, response.req.headers);
    await this.passingErrors(context, response, async (noteRefusal) => {
      const operation = operationOf(request, model, asItCame(response.req, target), noteRefusal);
      reply(response, await this.calls.run(context, operation));
    });
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
    work: (noteRefusal: (answer: UpstreamAnswer) => void) => Promise<void>,
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
