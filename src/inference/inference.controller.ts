import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiExcludeEndpoint, ApiOkResponse, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ReadsMembers } from '../common/http/execution-context.js';
import { isObject } from '../common/json/read.js';
import { providerContextOf } from '../gateway/provider-context.decorator.js';
import { MeteredByBound, ProviderRoute } from '../gateway/provider-route.decorator.js';
import type { Dialect, InferenceFacts } from './dialects/dialect.types.js';
import { anthropicMessages } from './dialects/anthropic-messages/messages.dialect.js';
import { openaiChat } from './dialects/openai-chat/chat.dialect.js';
import { openaiEmbeddings } from './dialects/openai-embeddings.dialect.js';
import { MessagesErrorResponse } from './messages-error.response.js';
import { InferenceService } from './inference.service.js';

const ANY = { type: 'object', additionalProperties: true } as const;
const BODY = { schema: { ...ANY, description: "The provider's request, forwarded unchanged." } };
const JSON_ANSWER = { 'application/json': { schema: ANY } };
const EVENTS = { 'text/event-stream': { schema: { type: 'string' } } };

@ApiTags('Inference')
@Controller()
export class InferenceController {
  constructor(private readonly inference: InferenceService) {}

  /** Answers a conversation, as one JSON object or as a stream of events. */
  @Post('v1/chat/completions')
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @MeteredByBound()
  @ReadsMembers(openaiChat.members)
  @ApiBody(BODY)
  @ApiOkResponse({
    description: "The provider's answer, unchanged. Its events when the body has `stream`.",
    content: { ...JSON_ANSWER, ...EVENTS },
  })
  createChatCompletion(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiChat, request, response);
  }

  /** `POST /v1/chat/completions` for clients whose address has no version. */
  @Post('chat/completions')
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @ReadsMembers(openaiChat.members)
  @ApiExcludeEndpoint()
  createChatCompletionWithoutVersion(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiChat, request, response);
  }

  /** Turns texts into vectors. */
  @Post('v1/embeddings')
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @MeteredByBound()
  @ReadsMembers(openaiEmbeddings.members)
  @ApiBody(BODY)
  @ApiOkResponse({ description: "The provider's answer, unchanged.", content: JSON_ANSWER })
  createEmbedding(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiEmbeddings, request, response);
  }

  /** `POST /v1/embeddings` for clients whose address has no version. */
  @Post('embeddings')
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @ReadsMembers(openaiEmbeddings.members)
  @ApiExcludeEndpoint()
  createEmbeddingWithoutVersion(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(openaiEmbeddings, request, response);
  }

  /** Answers a conversation in the format of Anthropic's API. */
  @Post('v1/messages')
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @MeteredByBound()
  @ReadsMembers(anthropicMessages.members)
  @ApiBody(BODY)
  @ApiOkResponse({
    description: "The provider's answer, unchanged. Its events when the body has `stream`.",
    content: { ...JSON_ANSWER, ...EVENTS },
  })
  @ApiResponse({ status: 'default', description: 'Any other error.', type: MessagesErrorResponse })
  createModelMessage(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(anthropicMessages, request, response);
  }

  /** `POST /v1/messages` for clients whose address has no version, or names the API. */
  @Post(['messages', 'anthropic/v1/messages'])
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @ReadsMembers(anthropicMessages.members)
  @ApiExcludeEndpoint()
  createModelMessageElsewhere(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(anthropicMessages, request, response);
  }

  private run<Facts extends InferenceFacts>(
    dialect: Dialect<Facts>,
    request: Request,
    response: Response,
  ): Promise<void> {
    const members = isObject(request.body) ? request.body : {};
    return this.inference.run(dialect, providerContextOf(request, response), members, response);
  }
}
