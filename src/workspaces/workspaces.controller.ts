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
import { WorkspaceListQuery } from './dto/workspace-list.query.js';
import { CreateWorkspaceDto, UpdateWorkspaceDto } from './dto/workspace.dto.js';
import { toWorkspaceResponse, WorkspaceListResponse, WorkspaceResponse } from './workspace.response.js';
import { WorkspacesService } from './workspaces.service.js';

@ManagementApi('Workspaces')
@Controller('v1/workspaces')
export class WorkspacesController {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly upserts: Upserts,
  ) {}

  /** Creates a workspace in the caller's organisation. */
  @Post()
  @RequireScope('workspaces.create')
  @IdempotentCreate()
  async createWorkspace(
    @CurrentPrincipal() principal: Principal,
    @Body() dto: CreateWorkspaceDto,
  ): Promise<CreatedResponse> {
    const { id, slug } = await this.workspaces.create(principal, dto);
    return { id, slug, object: 'workspace' };
  }

  /** Lists the workspaces that the caller can see, newest first. */
  @Get()
  @RequireScope('workspaces.list')
  async listWorkspaces(
    @CurrentPrincipal() principal: Principal,
    @Query() query: WorkspaceListQuery,
  ): Promise<WorkspaceListResponse> {
    return toList(await this.workspaces.list(principal, query), toWorkspaceResponse);
  }

  /** Retrieves a workspace by id or slug. */
  @Get(':ref')
  @RequireScope('workspaces.read')
  async retrieveWorkspace(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
  ): Promise<WorkspaceResponse> {
    return toWorkspaceResponse(await this.workspaces.get(principal, ref));
  }

  /** Updates the named fields of a workspace. */
  @Patch(':ref')
  @RequireScope('workspaces.update')
  async updateWorkspace(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateWorkspaceDto,
  ): Promise<WorkspaceResponse> {
    return toWorkspaceResponse(await this.workspaces.update(principal, ref, dto));
  }

  /** Updates the named fields of a workspace, like PATCH. A slug that does not exist creates one, if the body is complete. */
  @Put(':ref')
  @RequireScope('workspaces.update')
  @ApiOkResponse({ type: WorkspaceResponse })
  @ApiCreatedResponse({ type: WorkspaceResponse, description: 'It was created: no workspace had this slug.' })
  async putWorkspace(
    @CurrentPrincipal() principal: Principal,
    @Param('ref') ref: string,
    @Body() dto: UpdateWorkspaceDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<WorkspaceResponse> {
    const request = { principal, ref, dto, response, type: CreateWorkspaceDto, scope: 'workspaces.create' } as const;
    return this.upserts.put(
      request,
      () => this.updateWorkspace(principal, ref, dto),
      async (fields) => toWorkspaceResponse(await this.workspaces.create(principal, fields)),
    );
  }

  /** Deletes a workspace. One that still has keys, webhooks, MCP servers, model routes or active usage limits cannot be deleted (409). */
  @Delete(':ref')
  @HttpCode(204)
  @RequireScope('workspaces.delete')
  async deleteWorkspace(@CurrentPrincipal() principal: Principal, @Param('ref') ref: string): Promise<void> {
    await this.workspaces.delete(principal, ref);
  }
}
