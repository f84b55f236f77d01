import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/route-access.decorators.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { toList } from '../../common/pagination/list.js';
import { IdempotentCreate } from '../../idempotency/idempotent.decorator.js';
import { PriceListQuery } from './dto/price-list.query.js';
import { CreatePriceDto } from './dto/price.dto.js';
import { CreatedPriceResponse, PriceListResponse, PriceResponse, toPriceResponse } from './price.response.js';
import { PricesService } from './prices.service.js';

@ManagementApi('Prices')
@Controller('v1/prices')
export class PricesController {
  constructor(private readonly prices: PricesService) {}

  /** Sets what a unit of a model costs from a given time on. A price never changes; a newer one replaces it. */
  @Post()
  @RequireScope('prices.create')
  @IdempotentCreate()
  async createPrice(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreatePriceDto,
  ): Promise<CreatedPriceResponse> {
    const { id } = await this.prices.create(principal, dto);
    return { id, object: 'price' };
  }

  /** Lists prices: the organisation's own, the operator's, then the built-in ones. */
  @Get()
  @RequireScope('prices.list')
  async listPrices(
    @CurrentPrincipal() principal: Principal,
    @Query() query: PriceListQuery,
  ): Promise<PriceListResponse> {
    return toList(await this.prices.list(principal, query), toPriceResponse);
  }

  /** Retrieves a price. */
  @Get(':id')
  @RequireScope('prices.read')
  async retrievePrice(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<PriceResponse> {
    return toPriceResponse(await this.prices.get(principal, id));
  }
}
