import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { Upserts } from '../access/upserts.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { CreatedResponse } from '../common/http/created.response.js';
import { NoFieldsDto } from '../common/validation/no-fields.dto.js';
import { IdempotentCreate } from '../idempotency/idempotent.decorator.js';
import { CreateSecretReferenceDto, UpdateSecretReferenceDto } from './dto/secret-reference.dto.js';
import { SecretReferenceListQuery } from './dto/secret-reference-list.query.js';
import { SecretReferenceProbe } from './secret-reference.probe.js';
import {
  SecretReferenceListResponse,
  SecretReferenceResponse,
  SecretReferenceTestResponse,
} from './secret-reference.response.js';
import { SecretReferencesService } from './secret-references.service.js';

@ManagementApi('Secret references')
@Controller('v1/secret-references')
export class SecretReferencesController {
  constructor(
    private readonly references: SecretReferencesService,
    private readonly probe: SecretReferenceProbe,
    private readonly upserts: Upserts,
  ) {}

  /** Creates a reference to a secret in an external secret manager. */
  @Post()
  @RequireScope('secret_references.create')
  @IdempotentCreate()
  async createSecretReference(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateSecretReferenceDto,
  ): Promise<CreatedResponse> {
    const { id, slug } = await this.references.create(principal, dto);
    return { id, slug, object: 'secret-reference' };
  }

  /** Lists the secret references that the caller can see, newest first. */
  @Get()
  @RequireScope('secret_references.list')
  async listSecretReferences(
    @CurrentPrincipal() principal: Principal,
    @Query() query: SecretReferenceListQuery,
  ): Promise<SecretReferenceListResponse> {
    return this.references.list(principal, query);
  }

  /** Retrieves a secret reference by id or slug, credentials masked. */
  @Get(':ref')
  @RequireScope('secret_references.read')
  async retrieveSecretReference(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
  ): Promise<SecretReferenceResponse> {
    return this.references.get(principal, ref);
  }

  /** Updates the named fields of a secret reference; `auth_config` is merged. */
  @Patch(':ref')
  @RequireScope('secret_references.update')
  async updateSecretReference(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateSecretReferenceDto,
  ): Promise<SecretReferenceResponse> {
    return this.references.update(principal, ref, dto);
  }

  /** Updates the named fields of a secret reference, like PATCH. A slug that does not exist creates one, if the body is complete. */
  @Put(':ref')
  @RequireScope('secret_references.update')
  @ApiOkResponse({ type: SecretReferenceResponse })
  @ApiCreatedResponse({
    type: SecretReferenceResponse,
    description: 'It was created: no secret reference had this slug.',
  })
  async putSecretReference(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateSecretReferenceDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SecretReferenceResponse> {
    const request = {
      principal,
      ref,
      dto,
      response,
      type: CreateSecretReferenceDto,
      scope: 'secret_references.create',
    } as const;
    return this.upserts.put(
      request,
      () => this.references.update(principal, ref, dto),
      async (fields) => this.references.get(principal, (await this.references.create(principal, fields)).id),
    );
  }

  /** Tests a secret reference: reads the secret from its manager. Never returns the secret. */
  @Post(':ref/test')
  @HttpCode(200)
  @RequireScope('secret_references.read')
  async testSecretReference(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() _none: NoFieldsDto,
  ): Promise<SecretReferenceTestResponse> {
    return this.probe.test(principal, ref);
  }

  /** Deletes a secret reference. One in use cannot be deleted (409). */
  @Delete(':ref')
  @HttpCode(204)
  @RequireScope('secret_references.delete')
  async deleteSecretReference(@CurrentPrincipal() principal: Principal, @Param('ref') ref: string): Promise<void> {
    await this.references.delete(principal, ref);
  }
}
