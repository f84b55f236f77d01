import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { ApiKeyOnly, RequireScope } from '../../access/route-access.decorators.js';
import { MayFail } from '../../common/errors/may-fail.decorator.js';
import { ModelsQuery } from './models.query.js';
import { ModelListResponse, ModelResponse } from './models.response.js';
import { ModelsService } from './models.service.js';

const SCOPE = 'completions.write';
const ELSEWHERE = ['models', 'openai/v1/models', 'anthropic/v1/models'];
const ADDRESSES = ['v1/models', ...ELSEWHERE];

@ApiTags('Inference')
@ApiSecurity('bearer')
@ApiSecurity('gatewayKey')
@Controller()
export class ModelsController {
  constructor(private readonly models: ModelsService) {}

  /** Lists the models that the caller can name, in the forms of OpenAI's and Anthropic's API at once. */
  @Get('v1/models')
  @RequireScope(SCOPE)
  @ApiKeyOnly()
  async listModels(@CurrentPrincipal() principal: Principal, @Query() query: ModelsQuery): Promise<ModelListResponse> {
    return this.models.list(principal, query);
  }

  /** `GET /v1/models` for clients whose address has no version, or names the API. */
  @Get(ELSEWHERE)
  @RequireScope(SCOPE)
  @ApiKeyOnly()
  @ApiExcludeEndpoint()
  async listModelsElsewhere(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ModelsQuery,
  ): Promise<ModelListResponse> {
    return this.models.list(principal, query);
  }

  /** Retrieves a model that the caller can name. */
  @Get('v1/models/:id')
  @RequireScope(SCOPE)
  @ApiKeyOnly()
  @MayFail('model_not_found')
  async retrieveModel(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<ModelResponse> {
    return this.models.get(principal, id);
  }

  /** Retrieves a model at the other addresses, and for clients that do not escape the slashes in `@slug/model`. */
  @Get(ADDRESSES.map((address) => `${address}/*id`))
  @RequireScope(SCOPE)
  @ApiKeyOnly()
  @ApiExcludeEndpoint()
  async retrieveModelElsewhere(
    @CurrentPrincipal() principal: Principal,
    @Param('id') segments: string | readonly string[],
  ): Promise<ModelResponse> {
    return this.models.get(principal, [segments].flat().join('/'));
  }
}
