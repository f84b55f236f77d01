import type { Writable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { ERROR_CODES } from '../common/errors/error-codes.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { AppConfig } from '../config/environment.js';
import type { BillableStream } from '../gateway/billable-use.js';
import type { ProviderContext } from '../gateway/provider-context.decorator.js';
import { ProviderCallService } from '../gateway/provider-call.service.js';
import { passedHeaders } from '../upstream/passed-headers.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import { firstHeader, type UpstreamAnswer, type UpstreamHead } from '../upstream/upstream.types.js';
import { modelFacts } from '../usage/models/model-catalogue.js';
import type { Dialect, InferenceFacts } from './dialects/dialect.types.js';
import { anthropicMessages } from './dialects/anthropic-messages/messages.dialect.js';
import { openaiChat } from './dialects/openai-chat/chat.dialect.js';
import { openaiCompletions } from './dialects/openai-completions/completions.dialect.js';
import { openaiEmbeddings } from './dialects/openai-embeddings.dialect.js';
import { openaiResponses } from './dialects/openai-responses/responses.dialect.js';

const DIALECTS = [openaiChat, openaiCompletions, openaiResponses, openaiEmbeddings, anthropicMessages];
/** Of an error of the provider, what its caller gets besides its body and status. */
const ERROR_HEADERS = ['content-type', 'retry-after', 'retry-after-ms', 'x-should-retry'] as const;
/** No proxy may keep or change a stream of events, or hold back a part of it. */
const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' } as const;

/** Relays calls of models: the bytes of the caller to the provider, and those of the provider to the caller. */
@Injectable()
export class InferenceService {
  constructor(
    private readonly calls: ProviderCallService,
    private readonly providers: ProviderRegistry,
    private readonly config: AppConfig,
    offered: OfferedEndpoints,
  ) {
    for (const { slug, endpoint } of DIALECTS) {
      offered.add(this.speakersOf(slug).map((provider) => ({ endpoint, provider, isMetered: true })));
    }
  }

  /** @param members of the body that the dialect reads */
  async run<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    context: ProviderContext,
    members: JsonObject,
    response: Response,
  ): Promise<void> {
    const facts = dialect.readFacts(members);
    const { provider, credential } = context.virtualKey;
    const path = provider.dialects?.[dialect.slug]?.(facts.model, credential.options);
    if (path === undefined || context.bytes === undefined) throw this.notSpoken(dialect);
    const call = {
      facts,
      bytes: context.bytes,
      knownModel: modelFacts(provider.slug, facts.model),
      hidesReasoning: provider.hidesReasoning === true,
    };
    const use: BillableStream = {
      endpoint: dialect.endpoint,
      model: facts.model,
      estimate: () => dialect.estimate(call),
      newMeter: () => dialect.newMeter(call),
    };
    let refused: UpstreamAnswer | undefined;
    const operation = {
      operation: dialect.endpoint,
      model: facts.model,
      request: {
        method: 'POST',
        path,
        headers: dialect.headersOf?.(response.req.headers),
        bytes: dialect.bodyOf(call),
      } as const,
      retry: 'connect' as const,
      noteRefusal: (answer: UpstreamAnswer) => void (refused = answer),
    };
    try {
      const streams = {
        takesEvents: facts.isStream,
        defaultTimeoutMs: this.config.INFERENCE_TIMEOUT_MS,
        sinkFor: (head: UpstreamHead) => (isStream(head) ? beginStream(dialect, response, head) : undefined),
      };
      const answer = await this.calls.streamBillable(context, operation, use, streams);
      if (answer.body !== undefined) reply(response, { ...answer, body: answer.body });
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

  private notSpoken({ slug }: Pick<Dialect, 'slug'>): GatewayError {
    const message = `${ERROR_CODES.provider_not_supported.message} These do: ${this.speakersOf(slug).join(', ')}.`;
    return new GatewayError('provider_not_supported', { message });
  }
}

function isStream({ status, headers }: UpstreamHead): boolean {
  const type = (firstHeader(headers, 'content-type') ?? '').toLowerCase();
  return status >= 200 && status <= 299 && type.startsWith('text/event-stream');
}

function beginStream(
  { toErrorEvent }: Pick<Dialect, 'toErrorEvent'>,
  response: Response,
  { status, headers }: UpstreamHead,
): Writable {
  response.statusCode = status;
  response.setHeader('content-type', firstHeader(headers, 'content-type') ?? 'text/event-stream');
  for (const [name, value] of Object.entries(STREAM_HEADERS)) response.setHeader(name, value);
  response.req.errorEvent = toErrorEvent;
  response.flushHeaders();
  return response;
}

function reply(response: Response, { status, headers, body }: UpstreamAnswer): void {
  const type = firstHeader(headers, 'content-type') ?? 'application/json';
  response.writeHead(status, { 'content-type': type, 'content-length': body.length });
  response.end(body);
}

/** As the provider words it: clients recover by these words. */
function replyRefusal(response: Response, answer: UpstreamAnswer): void {
  for (const [name, value] of Object.entries(passedHeaders(answer.headers))) response.setHeader(name, value);
  for (const name of ERROR_HEADERS) {
    const value = firstHeader(answer.headers, name);
    if (value !== undefined) response.setHeader(name, value);
  }
  reply(response, answer);
}
