import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { Upserts } from '../access/upserts.js';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { Clock } from '../common/time/clock.js';
import { NoFieldsDto } from '../common/validation/no-fields.dto.js';
import { IdempotentCreate } from '../idempotency/idempotent.decorator.js';
import { SimulateUsageDto } from './dto/simulate-usage.dto.js';
import { UsageEntitiesQuery } from './dto/usage-entities.query.js';
import { UsageLimitListQuery } from './dto/usage-limit-list.query.js';
import { CreateUsageLimitDto, UpdateUsageLimitDto } from './dto/usage-limit.dto.js';
import { UsageLimitQuery } from './dto/usage-limit.query.js';
import { UsageEntitiesService } from './usage-entities.service.js';
import {
  CreatedUsageLimitResponse,
  toUsageLimitResponse,
  UsageEntityListResponse,
  UsageLimitListResponse,
  UsageLimitResponse,
} from './usage-limit.response.js';
import { UsageLimitsService } from './usage-limits.service.js';
import { UsageSimulationResponse } from './usage-simulation.response.js';
import { UsageSimulator } from './usage-simulator.js';

@ManagementApi('Usage limits')
@Controller('v1/policies/usage-limits')
export class UsageLimitsController {
  constructor(
    private readonly policies: UsageLimitsService,
    private readonly entities: UsageEntitiesService,
    private readonly simulator: UsageSimulator,
    private readonly clock: Clock,
    private readonly upserts: Upserts,
  ) {}

  /** Creates a usage limit: a policy that caps what groups of calls may cost, or how many tokens they may use. */
  @Post()
  @RequireScope('policies.create')
  @IdempotentCreate()
  async createUsageLimit(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateUsageLimitDto,
  ): Promise<CreatedUsageLimitResponse> {
    const { id } = await this.policies.create(principal, dto, this.clock.now());
    return { id, object: 'policy_usage_limits' };
  }

  /** Lists the usage limits of the caller's tenant, newest first. */
  @Get()
  @RequireScope('policies.list')
  async listUsageLimits(
    @CurrentPrincipal() principal: Principal,
    @Query() query: UsageLimitListQuery,
  ): Promise<UsageLimitListResponse> {
    const now = this.clock.now();
    const [policies, total] = await this.policies.list(principal, query);
    const data: UsageLimitResponse[] = [];
    for (const policy of policies) {
      const usage = query.include_usage === 'true' ? await this.entities.fullest(policy) : undefined;
      data.push(toUsageLimitResponse(policy, now, usage));
    }
    return { object: 'list', data, total };
  }

  /** Simulates a call: returns what each usage limit would decide. Nothing is counted. */
  @Post('simulate')
  @HttpCode(200)
  @RequireScope('policies.read')
  @MayFail('usage_limit_unreadable')
  async simulateUsage(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: SimulateUsageDto,
  ): Promise<UsageSimulationResponse> {
    return this.simulator.simulate(principal, dto);
  }

  /** Retrieves a usage limit. */
  @Get(':ref')
  @RequireScope('policies.read')
  @MayFail('usage_limit_unreadable')
  async retrieveUsageLimit(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Query() query: UsageLimitQuery,
  ): Promise<UsageLimitResponse> {
    const policy = await this.policies.get(principal, ref);
    const usage = query.include_usage === 'true' ? await this.entities.mostUsed(policy) : undefined;
    return toUsageLimitResponse(policy, this.clock.now(), usage);
  }

  /** Updates the named fields of a usage limit. The current period is affected too. An archived one cannot change (409). */
  @Patch(':ref')
  @RequireScope('policies.update')
  @MayFail('conflict', 'usage_limit_unreadable')
  async updateUsageLimit(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateUsageLimitDto,
  ): Promise<UsageLimitResponse> {
    const now = this.clock.now();
    const { reset_usage_for_value: value } = dto;
    if (value !== undefined) await this.entities.resetValue(principal, ref, value);
    return toUsageLimitResponse(await this.policies.update(principal, ref, dto, now), now);
  }

  /** Updates the named fields of a usage limit, like PATCH. A slug that does not exist creates one, if the body is complete. */
  @Put(':ref')
  @RequireScope('policies.update')
  @MayFail('conflict', 'usage_limit_unreadable')
  @ApiOkResponse({ type: UsageLimitResponse })
  @ApiCreatedResponse({ type: UsageLimitResponse, description: 'It was created: no usage limit had this slug.' })
  async putUsageLimit(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateUsageLimitDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UsageLimitResponse> {
    const request = { principal, ref, dto, response, type: CreateUsageLimitDto, scope: 'policies.create' } as const;
    return this.upserts.put(
      request,
      () => this.updateUsageLimit(principal, ref, dto),
      async (fields) => {
        const now = this.clock.now();
        return toUsageLimitResponse(await this.policies.create(principal, fields, now), now);
      },
    );
  }

  /** Archives a usage limit: it no longer applies, and stays readable. */
  @Delete(':ref')
  @HttpCode(204)
  @RequireScope('policies.delete')
  async archiveUsageLimit(@CurrentPrincipal() principal: Principal, @Param('ref') ref: string): Promise<void> {
    await this.policies.archive(principal, ref);
  }

  /** Lists what the groups of a usage limit have used in the current period, highest usage first. */
  @Get(':ref/entities')
  @RequireScope('policies.read')
  @MayFail('usage_limit_unreadable')
  async listUsageLimitEntities(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Query() query: UsageEntitiesQuery,
  ): Promise<UsageEntityListResponse> {
    return this.entities.list(principal, ref, query);
  }

  /** Resets the usage of one group to zero. */
  @Put(':ref/entities/:entity_id/reset')
  @HttpCode(204)
  @RequireScope('policies.update')
  async resetUsageLimitEntity(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Param('entity_id') entityId: string,
    @Body() _none: NoFieldsDto,
  ): Promise<void> {
    await this.entities.reset(principal, ref, entityId);
  }

  /** Deletes one group of a usage limit: it starts from nothing with its next call. 409 while calls of it are in flight. */
  @Delete(':ref/entities/:entity_id')
  @HttpCode(204)
  @RequireScope('policies.update')
  @MayFail('conflict')
  async deleteUsageLimitEntity(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Param('entity_id') entityId: string,
  ): Promise<void> {
    await this.entities.delete(principal, ref, entityId);
  }
}
