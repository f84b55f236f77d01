import { applyDecorators, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { OctetsBody, ReadsMembers } from '../common/http/execution-context.js';
import { isObject, type JsonObject } from '../common/json/read.js';
import { providerContextOf } from '../gateway/provider-context.decorator.js';
import { MeteredByBound, ProviderRoute } from '../gateway/provider-route.decorator.js';
import { AWS_EVENTS } from '../upstream/streams/aws-events.js';
import { BedrockErrorResponse } from './bedrock-error.response.js';
import type { Dialect } from './dialects/dialect.types.js';
import { bedrockConverse, bedrockTokenCount } from './dialects/bedrock/converse.dialect.js';
import { bedrockInvoke } from './dialects/bedrock/invoke.dialect.js';
import { InferenceService } from './inference.service.js';

const ANY = { type: 'object', additionalProperties: true } as const;
const UNCHANGED = "Bedrock's answer, unchanged.";
const EVENTS = { [AWS_EVENTS]: { schema: { type: 'string', format: 'binary' } } };

const ModelCall = (path: string, relayed: Pick<Dialect, 'members'>): MethodDecorator =>
  applyDecorators(Relayed(path, relayed), MeteredByBound());

const Relayed = (path: string, { members }: Pick<Dialect, 'members'>): MethodDecorator =>
  applyDecorators(
    Post(path),
    HttpCode(200),
    ProviderRoute('completions.write'),
    ReadsMembers(members),
    OctetsBody(),
    ApiParam({
      name: 'model',
      description: 'The id or ARN of a model, `@slug/` before it for a virtual key, or the name of a model route.',
      schema: { type: 'string', example: 'anthropic.claude-sonnet-4-6' },
    }),
    ApiBody({ schema: { ...ANY, description: "Bedrock's request, forwarded unchanged." } }),
    ApiResponse({ status: 'default', description: 'Any other error.', type: BedrockErrorResponse }),
  );

/** Bedrock's own API, at the addresses that AWS's clients call. */
@ApiTags('Inference')
@Controller()
export class BedrockController {
  constructor(private readonly inference: InferenceService) {}

  /** Answers a conversation in the format of Bedrock's Converse. */
  @ModelCall('model/:model/converse', bedrockConverse)
  @ApiOkResponse({ description: UNCHANGED, content: { 'application/json': { schema: ANY } } })
  createBedrockConversation(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(bedrockConverse, false, request, response);
  }

  /** Answers a conversation in the format of Bedrock's Converse, as a binary stream of events. */
  @ModelCall('model/:model/converse-stream', bedrockConverse)
  @ApiOkResponse({ description: UNCHANGED, content: EVENTS })
  streamBedrockConversation(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(bedrockConverse, true, request, response);
  }

  /** Calls a model of Bedrock in the model's own format. */
  @ModelCall('model/:model/invoke', bedrockInvoke)
  @ApiOkResponse({ description: UNCHANGED, content: { 'application/json': { schema: ANY } } })
  invokeBedrockModel(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(bedrockInvoke, false, request, response);
  }

  /** Calls a model of Bedrock in the model's own format. The answer is a binary stream of events. */
  @ModelCall('model/:model/invoke-with-response-stream', bedrockInvoke)
  @ApiOkResponse({ description: UNCHANGED, content: EVENTS })
  streamBedrockModel(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.run(bedrockInvoke, true, request, response);
  }

  /** Counts the tokens of a request of either format. */
  @Relayed('model/:model/count-tokens', bedrockTokenCount)
  @ApiOkResponse({ description: UNCHANGED, content: { 'application/json': { schema: ANY } } })
  countBedrockTokens(@Req() request: Request, @Res() response: Response): Promise<void> {
    const context = providerContextOf(request, response);
    return this.inference.runFree(bedrockTokenCount, context, membersOf(request), response);
  }

  private run(dialect: Dialect, isStream: boolean, request: Request, response: Response): Promise<void> {
    const members = { ...membersOf(request), ...modesInHeaders(request), stream: isStream };
    return this.inference.run(dialect, providerContextOf(request, response), members, response);
  }
}

function membersOf({ body }: Request): JsonObject {
  return isObject(body) ? body : {};
}

/** InvokeModel has headers for what Converse has in its body. */
function modesInHeaders({ headers }: Request): JsonObject {
  const tier = headers['x-amzn-bedrock-service-tier'];
  const latency = headers['x-amzn-bedrock-performanceconfig-latency'];
  return {
    ...(tier === undefined ? {} : { serviceTier: { type: tier } }),
    ...(latency === undefined ? {} : { performanceConfig: { latency } }),
  };
}
