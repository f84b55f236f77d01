import type { Request, Response } from 'express';
import { ERROR_CODES } from '../common/errors/error-codes.js';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../common/json/read.js';
import { providerContextOf } from '../gateway/provider-context.decorator.js';
import { geminiEmbeddings, geminiManyEmbeddings } from './dialects/gemini/gemini-embeddings.dialect.js';
import { gemini, geminiTokenCount } from './dialects/gemini/gemini.dialect.js';
import { vertexEmbeddings } from './dialects/gemini/vertex-embeddings.dialect.js';
import type { InferenceService } from './inference.service.js';

const OFFERED = [
  'generateContent',
  'streamGenerateContent',
  'countTokens',
  'embedContent',
  'batchEmbedContents',
  'predict',
];

/** Runs a call of Gemini's own API. */
export function callGemini(inference: InferenceService, request: Request, response: Response): Promise<void> {
  const context = providerContextOf(request, response);
  const members = membersOf(request);
  switch (operationOf(request)) {
    case 'generateContent':
      return inference.run(gemini, context, { ...members, stream: false }, response);
    case 'streamGenerateContent':
      if (request.query['alt'] !== 'sse') throw invalidField('alt', 'must be sse, as a parameter of the query');
      return inference.run(gemini, context, { ...members, stream: true }, response);
    case 'countTokens':
      return inference.runFree(geminiTokenCount, context, members, response);
    case 'embedContent':
      return inference.run(geminiEmbeddings, context, members, response);
    case 'batchEmbedContents':
      return inference.run(geminiManyEmbeddings, context, members, response);
    // The text embeddings of Vertex.
    case 'predict':
      return inference.run(vertexEmbeddings, context, members, response);
    default:
      throw notOffered(OFFERED);
  }
}

/** @param operations the operations that the route offers */
export function notOffered(operations: readonly string[]): GatewayError {
  const message = `${ERROR_CODES.operation_not_offered.message} Of models it offers: ${operations.join(', ')}.`;
  return new GatewayError('operation_not_offered', { message });
}

/** The operation after the last colon of the path. */
export function operationOf({ path }: Pick<Request, 'path'>): string {
  return path.slice(path.lastIndexOf(':') + 1);
}

export function membersOf({ body }: Request): JsonObject {
  return isObject(body) ? body : {};
}
