import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { JsonText } from '../common/json/write.js';
import { providerContextOf } from '../gateway/provider-context.decorator.js';
import { Metered, ProviderRoute } from '../gateway/provider-route.decorator.js';
import { CreateRerankDto } from './dto/create-rerank.dto.js';
import { type AnswerForm, answerFormOf, toRerankRequest, toRerankResponse } from './rerank.mapper.js';
import { RerankResponse } from './rerank.response.js';
import { RerankService } from './rerank.service.js';

const ANSWER_HEADERS = {
  'x-gateway-trace-id': { description: 'The trace id of the request.', schema: { type: 'string' } },
  'x-gateway-virtual-key-used': {
    description: 'The slug of the virtual key that was used.',
    schema: { type: 'string', example: 'cohere' },
  },
  'x-gateway-model': {
    description: 'The model as its provider knows it. Absent where a header cannot hold the name.',
    schema: { type: 'string', example: 'rerank-v3.5' },
  },
  'x-gateway-attempts': {
    description: 'How many targets of the model route were tried. Absent where the call names no model route.',
    schema: { type: 'string', example: '1' },
  },
  'x-gateway-limit-remaining': {
    description:
      'The remainder of the strict usage limit that is closest to its maximum, in its own unit. Absent when no limit applies.',
    schema: { type: 'string', example: '7.998' },
  },
  'x-gateway-cost': {
    description: 'US dollars that the call has cost. Absent where the model has no price.',
    schema: { type: 'string', example: '0.002' },
  },
  'x-gateway-warnings': {
    description: 'Options that were dropped because the provider does not have them, separated by commas.',
    schema: { type: 'string', example: 'unsupported_parameter; param=rank_fields; provider=cohere' },
  },
} as const;

@ApiTags('Rerank')
@Controller()
export class RerankController {
  constructor(private readonly rerank: RerankService) {}

  /** Scores documents against a query and returns them by relevance, best first. */
  @Post('v1/rerank')
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @Metered()
  @ApiOkResponse({ type: RerankResponse, description: 'The results, best first.', headers: ANSWER_HEADERS })
  createRerank(
    @Req() request: Request,
    @Body() dto: CreateRerankDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    return this.answer(request, dto, response, '1');
  }

  /** `POST /v1/rerank` for clients whose address has no version. */
  @Post('rerank')
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @ApiExcludeEndpoint()
  createRerankWithoutVersion(
    @Req() request: Request,
    @Body() dto: CreateRerankDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    return this.answer(request, dto, response, '1');
  }

  /** `POST /v1/rerank` at the path of Cohere's API version 2, since its current SDKs add the version to the path. */
  @Post('v2/rerank')
  @HttpCode(200)
  @ProviderRoute('completions.write')
  @ApiExcludeEndpoint()
  createRerankForCohere(
    @Req() request: Request,
    @Body() dto: CreateRerankDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    return this.answer(request, dto, response, '2');
  }

  private async answer(
    request: Request,
    dto: CreateRerankDto,
    response: Response,
    version: AnswerForm['version'],
  ): Promise<JsonText> {
    const context = providerContextOf(request, response);
    const { ranked, warnings } = await this.rerank.run(context, toRerankRequest(dto, context.bytes));
    if (warnings.length > 0) response.setHeader('x-gateway-warnings', warnings.join(', '));
    return toRerankResponse(ranked, answerFormOf(dto, request.headers, version));
  }
}
