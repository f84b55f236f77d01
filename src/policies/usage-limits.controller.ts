import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { toList } from '../common/pagination/list.js';
import { Clock } from '../common/time/clock.js';
import { NoFieldsDto } from '../common/validation/no-fields.dto.js';
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
  ) {}

  /** Creates a usage limit: a policy that caps what groups of calls may cost, or how many tokens they may use. */
  @Post()
  @RequireScope('policies.create')
  async createUsageLimit(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateUsageLimitDto,
  ): Promise<CreatedUsageLimitResponse> {
    const { id } = await this.policies.create(principal, dto);
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
    return toList(await this.policies.list(principal, query), (policy) => toUsageLimitResponse(policy, now));
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
  @Get(':id')
  @RequireScope('policies.read')
  @MayFail('usage_limit_unreadable')
  async retrieveUsageLimit(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: UsageLimitQuery,
  ): Promise<UsageLimitResponse> {
    const policy = await this.policies.get(principal, id);
    const usage = query.include_usage === 'true' ? await this.entities.mostUsed(policy) : undefined;
    return toUsageLimitResponse(policy, this.clock.now(), usage);
  }

  /** Updates the named fields of a usage limit. The current period is affected too. An archived one cannot change (409). */
  @Patch(':id')
  @RequireScope('policies.update')
  @MayFail('conflict', 'usage_limit_unreadable')
  async updateUsageLimit(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateUsageLimitDto,
  ): Promise<UsageLimitResponse> {
    const now = this.clock.now();
    return toUsageLimitResponse(await this.policies.update(principal, id, dto, now), now);
  }

  /** Updates the named fields of a usage limit, like PATCH. */
  @Put(':id')
  @RequireScope('policies.update')
  @MayFail('conflict', 'usage_limit_unreadable')
  async putUsageLimit(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateUsageLimitDto,
  ): Promise<UsageLimitResponse> {
    return this.updateUsageLimit(principal, id, dto);
  }

  /** Archives a usage limit: it no longer applies, and stays readable. */
  @Delete(':id')
  @HttpCode(204)
  @RequireScope('policies.delete')
  async archiveUsageLimit(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<void> {
    await this.policies.archive(principal, id);
  }

  /** Lists what the groups of a usage limit have used in the current period, highest usage first. */
  @Get(':id/entities')
  @RequireScope('policies.read')
  @MayFail('usage_limit_unreadable')
  async listUsageLimitEntities(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Query() query: UsageEntitiesQuery,
  ): Promise<UsageEntityListResponse> {
    return this.entities.list(principal, id, query);
  }

  /** Resets the usage of one group to zero. */
  @Put(':id/entities/:entity_id/reset')
  @HttpCode(204)
  @RequireScope('policies.update')
  async resetUsageLimitEntity(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
    @Param('entity_id') entityId: string,
    @Body() _none: NoFieldsDto,
  ): Promise<void> {
    await this.entities.reset(principal, id, entityId);
  }
}
