import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { Upserts } from '../access/upserts.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { CreatedResponse } from '../common/http/created.response.js';
import { toList } from '../common/pagination/list.js';
import { IdempotentCreate } from '../idempotency/idempotent.decorator.js';
import { CreateModelRouteDto, UpdateModelRouteDto } from './dto/model-route.dto.js';
import { ModelRouteListQuery } from './dto/model-route-list.query.js';
import { ModelRouteHealthResponse } from './model-route-health.response.js';
import { ModelRouteListResponse, ModelRouteResponse, toModelRouteResponse } from './model-route.response.js';
import { ModelRoutesService } from './model-routes.service.js';

@ManagementApi('Model routes')
@Controller('v1/model-routes')
export class ModelRoutesController {
  constructor(
    private readonly routes: ModelRoutesService,
    private readonly upserts: Upserts,
  ) {}

  /** Creates a model route: a name of a model that leads to a model of a virtual key. */
  @Post()
  @RequireScope('model_routes.create')
  @IdempotentCreate()
  async createModelRoute(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateModelRouteDto,
  ): Promise<CreatedResponse> {
    const { id, slug } = await this.routes.create(principal, dto);
    return { id, slug, object: 'model-route' };
  }

  /** Lists the model routes of the caller's tenant, newest first. */
  @Get()
  @RequireScope('model_routes.list')
  async listModelRoutes(
    @CurrentPrincipal() principal: Principal,
    @Query() query: ModelRouteListQuery,
  ): Promise<ModelRouteListResponse> {
    return toList(await this.routes.list(principal, query), toModelRouteResponse);
  }

  /** Retrieves a model route by id or slug. */
  @Get(':ref')
  @RequireScope('model_routes.read')
  async retrieveModelRoute(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
  ): Promise<ModelRouteResponse> {
    return toModelRouteResponse(await this.routes.get(principal, ref));
  }

  /** How the targets of a model route are, as the gateway that answers has seen them. */
  @Get(':ref/health')
  @RequireScope('model_routes.read')
  async retrieveModelRouteHealth(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
  ): Promise<ModelRouteHealthResponse> {
    return this.routes.health(principal, ref);
  }

  /** Updates the named fields of a model route. */
  @Patch(':ref')
  @RequireScope('model_routes.update')
  async updateModelRoute(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateModelRouteDto,
  ): Promise<ModelRouteResponse> {
    return toModelRouteResponse(await this.routes.update(principal, ref, dto));
  }

  /** Updates the named fields of a model route, like PATCH. A slug that does not exist creates one, if the body is complete. */
  @Put(':ref')
  @RequireScope('model_routes.update')
  @ApiOkResponse({ type: ModelRouteResponse })
  @ApiCreatedResponse({ type: ModelRouteResponse, description: 'It was created: no model route had this slug.' })
  async putModelRoute(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateModelRouteDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ModelRouteResponse> {
    const request = { principal, ref, dto, response, type: CreateModelRouteDto, scope: 'model_routes.create' } as const;
    const row = await this.upserts.put(
      request,
      () => this.routes.update(principal, ref, dto),
      (fields) => this.routes.create(principal, fields),
    );
    return toModelRouteResponse(row);
  }

  /** Deletes a model route. */
  @Delete(':ref')
  @HttpCode(204)
  @RequireScope('model_routes.delete')
  async deleteModelRoute(@CurrentPrincipal() principal: Principal, @Param('ref') ref: string): Promise<void> {
    await this.routes.delete(principal, ref);
  }
}
