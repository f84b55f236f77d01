import { applyDecorators, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ERROR_CODES } from '../common/errors/error-codes.js';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { ReadsMembers } from '../common/http/execution-context.js';
import { isObject, type JsonObject } from '../common/json/read.js';
import { providerContextOf } from '../gateway/provider-context.decorator.js';
import { MeteredByBound, ProviderRoute } from '../gateway/provider-route.decorator.js';
import { geminiEmbeddings, geminiManyEmbeddings } from './dialects/gemini/gemini-embeddings.dialect.js';
import { gemini, geminiTokenCount } from './dialects/gemini/gemini.dialect.js';
import { InferenceService } from './inference.service.js';

const OFFERED = ['generateContent', 'streamGenerateContent', 'countTokens', 'embedContent', 'batchEmbedContents'];

/**
 * Gemini's own API. A path cannot be described where its last segment names a model and an operation, and a model with its
 * virtual key has several segments: `/v1beta/models/@gemini/gemini-2.5-flash:generateContent`.
 */
@ApiExcludeController()
@Controller()
export class GeminiController {
  constructor(private readonly inference: InferenceService) {}

  @GeminiCall()
  callGemini(@Req() request: Request, @Res() response: Response): Promise<void> {
    const context = providerContextOf(request, response);
    const members = membersOf(request);
    switch (operationOf(request)) {
      case 'generateContent':
        return this.inference.run(gemini, context, { ...members, stream: false }, response);
      case 'streamGenerateContent':
        if (request.query['alt'] !== 'sse') throw invalidField('alt', 'must be sse, as a parameter of the query');
        return this.inference.run(gemini, context, { ...members, stream: true }, response);
      case 'countTokens':
        return this.inference.runFree(geminiTokenCount, context, members, response);
      case 'embedContent':
        return this.inference.run(geminiEmbeddings, context, members, response);
      case 'batchEmbedContents':
        return this.inference.run(geminiManyEmbeddings, context, members, response);
      default: {
        const message = `${ERROR_CODES.operation_not_offered.message} Of models it offers: ${OFFERED.join(', ')}.`;
        throw new GatewayError('operation_not_offered', { message });
      }
    }
  }
}

function GeminiCall(): MethodDecorator {
  return applyDecorators(
    // Google's SDK has called the first since its version 3, and the second before.
    Post(['v1/models/*model', 'v1beta/models/*model']),
    HttpCode(200),
    ProviderRoute('completions.write'),
    ReadsMembers(gemini.members),
    MeteredByBound(),
  );
}

/** Behind the last colon of the path. */
function operationOf({ path }: Request): string {
  return path.slice(path.lastIndexOf(':') + 1);
}

function membersOf({ body }: Request): JsonObject {
  return isObject(body) ? body : {};
}
