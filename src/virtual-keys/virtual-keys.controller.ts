import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { Upserts } from '../access/upserts.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { CreatedResponse } from '../common/http/created.response.js';
import { NoFieldsDto } from '../common/validation/no-fields.dto.js';
import { IdempotentCreate } from '../idempotency/idempotent.decorator.js';
import { contextOf } from '../telemetry/request-context.js';
import { VirtualKeyListQuery } from './dto/virtual-key-list.query.js';
import { CreateVirtualKeyDto, UpdateVirtualKeyDto } from './dto/virtual-key.dto.js';
import { VirtualKeyProbe } from './virtual-key.probe.js';
import { VirtualKeyListResponse, VirtualKeyResponse, VirtualKeyTestResponse } from './virtual-key.response.js';
import { VirtualKeysService } from './virtual-keys.service.js';

@ManagementApi('Virtual keys')
@Controller('v1/virtual-keys')
export class VirtualKeysController {
  constructor(
    private readonly virtualKeys: VirtualKeysService,
    private readonly probe: VirtualKeyProbe,
    private readonly upserts: Upserts,
  ) {}

  /** Creates a virtual key: a provider, a credential for it, and options. */
  @Post()
  @RequireScope('virtual_keys.create')
  @IdempotentCreate()
  async createVirtualKey(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateVirtualKeyDto,
  ): Promise<CreatedResponse> {
    const { id, slug } = await this.virtualKeys.create(principal, dto);
    return { id, slug, object: 'virtual-key' };
  }

  /** Lists the virtual keys of the caller's tenant, newest first. */
  @Get()
  @RequireScope('virtual_keys.list')
  async listVirtualKeys(
    @CurrentPrincipal() principal: Principal,
    @Query() query: VirtualKeyListQuery,
  ): Promise<VirtualKeyListResponse> {
    return this.virtualKeys.list(principal, query);
  }

  /** Retrieves a virtual key by id or slug, secrets masked. */
  @Get(':ref')
  @RequireScope('virtual_keys.read')
  async retrieveVirtualKey(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
  ): Promise<VirtualKeyResponse> {
    return this.virtualKeys.get(principal, ref);
  }

  /** Updates the named fields of a virtual key; `config` is merged. */
  @Patch(':ref')
  @RequireScope('virtual_keys.update')
  async updateVirtualKey(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateVirtualKeyDto,
  ): Promise<VirtualKeyResponse> {
    return this.virtualKeys.update(principal, ref, dto);
  }

  /** Updates the named fields of a virtual key, like PATCH. A slug that does not exist creates one, if the body is complete. */
  @Put(':ref')
  @RequireScope('virtual_keys.update')
  @ApiOkResponse({ type: VirtualKeyResponse })
  @ApiCreatedResponse({ type: VirtualKeyResponse, description: 'It was created: no virtual key had this slug.' })
  async putVirtualKey(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateVirtualKeyDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<VirtualKeyResponse> {
    const request = { principal, ref, dto, response, type: CreateVirtualKeyDto, scope: 'virtual_keys.create' } as const;
    return this.upserts.put(
      request,
      () => this.virtualKeys.update(principal, ref, dto),
      async (fields) => this.virtualKeys.get(principal, (await this.virtualKeys.create(principal, fields)).id),
    );
  }

  /** Tests a virtual key: asks the provider whether it accepts the credential. */
  @Post(':ref/test')
  @HttpCode(200)
  @RequireScope('virtual_keys.read')
  async testVirtualKey(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Req() request: Request,
    @Body() _none: NoFieldsDto,
  ): Promise<VirtualKeyTestResponse> {
    return this.probe.test(principal, ref, contextOf(request));
  }

  /** Deletes a virtual key. */
  @Delete(':ref')
  @HttpCode(204)
  @RequireScope('virtual_keys.delete')
  async deleteVirtualKey(@CurrentPrincipal() principal: Principal, @Param('ref') ref: string): Promise<void> {
    await this.virtualKeys.delete(principal, ref);
  }
}
