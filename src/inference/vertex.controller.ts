import { applyDecorators, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ReadsMembers } from '../common/http/execution-context.js';
import { type JsonObject, stringOrUndefined } from '../common/json/read.js';
import { type ProviderContext, providerContextOf } from '../gateway/provider-context.decorator.js';
import { MeteredByBound, ProviderRoute } from '../gateway/provider-route.decorator.js';
import { ROUTING_MEMBERS } from '../gateway/routing/destination.js';
import { inAnthropicForm } from '../upstream/providers/vertex/vertex-messages.js';
import { anthropicMessages, anthropicTokenCount } from './dialects/anthropic-messages/messages.dialect.js';
import { gemini } from './dialects/gemini/gemini.dialect.js';
import { MODE_MEMBERS } from './dialects/service-mode.js';
import { callGemini, membersOf, notOffered, operationOf } from './gemini-operations.js';
import { InferenceService } from './inference.service.js';

const STREAM = 'streamRawPredict';
const MESSAGES: readonly string[] = ['rawPredict', STREAM];
const NO_BYTES = Buffer.alloc(0);
const MEMBERS = new Set([...anthropicMessages.members, ...gemini.members, ...MODE_MEMBERS, ...ROUTING_MEMBERS]);
/** With a project and its location, and as clients with an API key have it. The virtual key says which project is called. */
const PLACES = ['v1', 'v1beta1'].flatMap((version) => [
  `${version}/projects/:project/locations/:location/publishers`,
  `${version}/publishers`,
]);

/** Vertex AI's own API, at the addresses that clients of Google and of Anthropic call. Messages may go to any provider. */
@ApiExcludeController()
@Controller()
export class VertexController {
  constructor(private readonly inference: InferenceService) {}

  // First: to the other address, this would be a model of that name.
  @VertexCall('anthropic/models/count-tokens\\:rawPredict')
  countTokens(@Req() request: Request, @Res() response: Response): Promise<void> {
    const context = inForm(providerContextOf(request, response), {});
    return this.inference.runFree(anthropicTokenCount, context, membersOf(request), response);
  }

  @VertexCall(':publisher/models/*model')
  callVertex(@Req() request: Request, @Res() response: Response): Promise<void> {
    const publisher = String(request.params['publisher']);
    if (publisher === 'anthropic') return this.message(request, response);
    // With `@`, it is a virtual key.
    if (publisher === 'google' || publisher.startsWith('@')) return callGemini(this.inference, request, response);
    throw notOffered(['those of the publishers google and anthropic']);
  }

  private message(request: Request, response: Response): Promise<void> {
    const operation = operationOf(request);
    if (!MESSAGES.includes(operation)) throw notOffered(MESSAGES);
    const stream = operation === STREAM;
    const members: JsonObject = { ...membersOf(request), stream };
    const model = stringOrUndefined(members['model']);
    const context = inForm(providerContextOf(request, response), { ...(model !== undefined && { model }), stream });
    return this.inference.run(anthropicMessages, context, members, response);
  }
}

function VertexCall(path: string): MethodDecorator {
  return applyDecorators(
    Post(PLACES.map((place) => `${place}/${path}`)),
    HttpCode(200),
    ProviderRoute('completions.write'),
    ReadsMembers(MEMBERS),
    MeteredByBound(),
  );
}

/** The call with the body of Anthropic's API, which names its model. */
function inForm(context: ProviderContext, own: Parameters<typeof inAnthropicForm>[1]): ProviderContext {
  const { bytes = NO_BYTES, modelNames } = context;
  return {
    ...context,
    bytes: inAnthropicForm(bytes, own),
    modelNames: modelNames && { ...modelNames, isInPath: false },
  };
}
