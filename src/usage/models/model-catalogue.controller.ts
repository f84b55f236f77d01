import { Controller, Get, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/route-access.decorators.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { CatalogueModelQuery } from './catalogue-model.query.js';
import { CatalogueModelListResponse } from './catalogue-model.response.js';
import { ModelCatalogueService } from './model-catalogue.service.js';

@ManagementApi('Model catalogue')
@Controller('v1/model-catalogue')
export class ModelCatalogueController {
  constructor(private readonly catalogue: ModelCatalogueService) {}

  /** Lists the models that the gateway knows: what they read and write, what they cost now, and who says so. */
  @Get()
  @RequireScope('prices.list')
  async listCatalogueModels(
    @CurrentPrincipal() principal: Principal,
    @Query() query: CatalogueModelQuery,
  ): Promise<CatalogueModelListResponse> {
    return this.catalogue.list(principal, query);
  }
}
