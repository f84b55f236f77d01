import { applyDecorators, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiExcludeEndpoint, ApiOkResponse, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ReadsMembers } from '../common/http/execution-context.js';
import { isObject, type JsonObject } from '../common/json/read.js';
import { providerContextOf } from '../gateway/provider-context.decorator.js';
import { ROUTING_MEMBERS } from '../gateway/routing/destination.js';
import { MeteredByBound, ProviderRoute } from '../gateway/provider-route.decorator.js';
import type { Dialect, InferenceFacts, RelayedRequest } from './dialects/dialect.types.js';
import { anthropicMessages, anthropicTokenCount } from './dialects/anthropic-messages/messages.dialect.js';
import { openaiChat } from './dialects/openai-chat/chat.dialect.js';
import { openaiCompletions } from './dialects/openai-completions/completions.dialect.js';
import { openaiEmbeddings } from './dialects/openai-embeddings.dialect.js';
import { openaiCompaction, openaiResponses, openaiTokenCount } from './dialects/openai-responses/responses.dialect.js';
import { MODE_MEMBERS } from './dialects/service-mode.js';
import { MessagesErrorResponse } from './messages-error.response.js';
import { InferenceService } from './inference.service.js';
import { withNestedTools } from './nested-tools.js';

const ANY = { type: 'object', additionalProperties: true } as const;
const BODY = { schema: { ...ANY, description: "The provider's request, forwarded unchanged." } };
const JSON_ANSWER = { 'application/json': { schema: ANY } };
const EVENTS = { 'text/event-stream': { schema: { type: 'string' } } };

const UNCHANGED = "The provider's answer, unchanged.";
const MAY_STREAM = `${UNCHANGED} Its events when the body has \`stream\`.`;

/** The address of a call of a model, as a whole. */
const ModelCall = (path: string, { members }: Pick<RelayedRequest, 'members'>): MethodDecorator =>
  applyDecorators(Relayed(path, members), MeteredByBound(), ApiBody(BODY));

/** One that costs nothing. */
const FreeCall = (path: string, { members }: Pick<RelayedRequest, 'members'>): MethodDecorator =>
  applyDecorators(
    Relayed(path, members),
    ApiBody(BODY),
    ApiOkResponse({ description: UNCHANGED, content: JSON_ANSWER }),
  );

/** Further addresses of a call, for clients whose address has no version, or names the API. */
const SameCall = (paths: string[], { members }: Pick<RelayedRequest, 'members'>): MethodDecorator =>
  applyDecorators(Relayed(paths, members), ApiExcludeEndpoint());

const Relayed = (path: string | string[], members: ReadonlySet<string>): MethodDecorator =>
  applyDecorators(
    Post(path),
    HttpCode(200),
    ProviderRoute('completions.write'),
    ReadsMembers(new Set([...members, ...MODE_MEMBERS, ...ROUTING_MEMBERS])),
  );

@ApiTags('Inference')
@Controller()
export class InferenceController {
  constructor(private readonly inference: InferenceService) {}

  /** Answers a conversation, as one JSON object or as a stream of events. */
  @ModelCall('v1/chat/completions', openaiChat)
  @ApiOkResponse({ description: MAY_STREAM, content: { ...JSON_ANSWER, ...EVENTS } })
  createChatCompletion(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.runChat(request, response);
  }

  @SameCall(['chat/completions', 'openai/v1/chat/completions'], openaiChat)
  createChatCompletionElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.runChat(request, response);
  }

  /** Completes a text, as one JSON object or as a stream of events. */
  @ModelCall('v1/completions', openaiCompletions)
  @ApiOkResponse({ description: MAY_STREAM, content: { ...JSON_ANSWER, ...EVENTS } })
  createCompletion(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiCompletions, request, response);
  }

  @SameCall(['completions', 'openai/v1/completions'], openaiCompletions)
  createCompletionElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiCompletions, request, response);
  }

  /** Makes a response of the model, as one JSON object or as a stream of events. */
  @ModelCall('v1/responses', openaiResponses)
  @ApiOkResponse({ description: MAY_STREAM, content: { ...JSON_ANSWER, ...EVENTS } })
  createModelResponse(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiResponses, request, response);
  }

  @SameCall(['responses', 'openai/v1/responses'], openaiResponses)
  createModelResponseElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiResponses, request, response);
  }

  /** Turns texts into vectors. */
  @ModelCall('v1/embeddings', openaiEmbeddings)
  @ApiOkResponse({ description: UNCHANGED, content: JSON_ANSWER })
  createEmbedding(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiEmbeddings, request, response);
  }

  @SameCall(['embeddings', 'openai/v1/embeddings'], openaiEmbeddings)
  createEmbeddingElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiEmbeddings, request, response);
  }

  /** Answers a conversation in the format of Anthropic's API. */
  @ModelCall('v1/messages', anthropicMessages)
  @ApiOkResponse({ description: MAY_STREAM, content: { ...JSON_ANSWER, ...EVENTS } })
  @ApiResponse({ status: 'default', description: 'Any other error.', type: MessagesErrorResponse })
  createModelMessage(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(anthropicMessages, request, response);
  }

  @SameCall(['messages', 'anthropic/v1/messages'], anthropicMessages)
  createModelMessageElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(anthropicMessages, request, response);
  }

  /** Makes the input of a response shorter. */
  @ModelCall('v1/responses/compact', openaiCompaction)
  @ApiOkResponse({ description: UNCHANGED, content: JSON_ANSWER })
  compactResponse(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiCompaction, request, response);
  }

  @SameCall(['responses/compact', 'openai/v1/responses/compact'], openaiCompaction)
  compactResponseElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiCompaction, request, response);
  }

  /** Counts the tokens of the input of a response. */
  @FreeCall('v1/responses/input_tokens', openaiTokenCount)
  countResponseTokens(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.runFree(openaiTokenCount, request, response);
  }

  @SameCall(['responses/input_tokens', 'openai/v1/responses/input_tokens'], openaiTokenCount)
  countResponseTokensElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.runFree(openaiTokenCount, request, response);
  }

  /** Counts the tokens of a conversation in the format of Anthropic's API. */
  @FreeCall('v1/messages/count_tokens', anthropicTokenCount)
  @ApiResponse({ status: 'default', description: 'Any other error.', type: MessagesErrorResponse })
  countMessageTokens(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.runFree(anthropicTokenCount, request, response);
  }

  @SameCall(['messages/count_tokens', 'anthropic/v1/messages/count_tokens'], anthropicTokenCount)
  countMessageTokensElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.runFree(anthropicTokenCount, request, response);
  }

  private runChat(request: Request, response: Response): Promise<void> {
    const context = providerContextOf(request, response);
    const bytes = context.bytes && withNestedTools(context.bytes);
    if (bytes !== context.bytes) response.setHeader('x-gateway-translated', 'flat-tools');
    return this.inference.run(openaiChat, { ...context, bytes }, membersOf(request), response);
  }

  private run<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    request: Request,
    response: Response,
  ): Promise<void> {
    return this.inference.run(dialect, providerContextOf(request, response), membersOf(request), response);
  }

  private runFree(call: RelayedRequest, request: Request, response: Response): Promise<void> {
    return this.inference.runFree(call, providerContextOf(request, response), membersOf(request), response);
  }
}

function membersOf({ body }: Request): JsonObject {
  return isObject(body) ? body : {};
}
