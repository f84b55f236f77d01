import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AnyCaller } from '../../access/route-access.decorators.js';
import { ApiOrganisation } from '../../common/http/api-docs.decorators.js';
import { MayFail } from '../../common/errors/may-fail.decorator.js';
import { NoFieldsDto } from '../../common/validation/no-fields.dto.js';
import { callerOf } from '../authentication.guard.js';
import { clearSessionCookie, writeSessionCookie } from './session-cookie.js';
import {
  OpenSessionResponse,
  SessionListResponse,
  SessionResponse,
  toOpenSessionResponse,
  toSessionResponse,
} from './session.response.js';
import { SessionsService } from './sessions.service.js';

const WHY = 'callers may log in, and see where they are logged in, whatever their scopes are';

@ApiTags('Sessions')
@ApiSecurity('bearer')
@ApiSecurity('gatewayKey')
@Controller('v1/sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  /**
   * Logs a browser in with the API key or the administrator's token of the request, and sets a cookie. Requests with the cookie have
   * the rights of the key, or those that the token had. A session of a token is for one organisation, and ends with the token.
   */
  @Post()
  @ApiOrganisation()
  @AnyCaller(WHY)
  @MayFail('conflict', 'tenant_mismatch')
  async createSession(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @Body() _body: NoFieldsDto,
  ): Promise<OpenSessionResponse> {
    const { session, token, csrfToken, maxAgeSeconds } = await this.sessions.open(request);
    writeSessionCookie(response, token, maxAgeSeconds);
    return toOpenSessionResponse(session, csrfToken);
  }

  /** Lists the sessions of the API key or the person, newest first, at most 100. */
  @Get()
  @AnyCaller(WHY)
  async listSessions(@Req() request: Request): Promise<SessionListResponse> {
    const caller = callerOf(request);
    const data = (await this.sessions.list(caller)).map((session) => toSessionResponse(session, caller.sessionId));
    return { object: 'list', data, total: data.length };
  }

  /** Retrieves the session of the cookie, with its CSRF token. */
  @Get('current')
  @AnyCaller(WHY)
  @MayFail('not_found')
  async retrieveCurrentSession(@Req() request: Request): Promise<OpenSessionResponse> {
    const { session, csrfToken } = await this.sessions.current(request);
    return toOpenSessionResponse(session, csrfToken);
  }

  /** Logs out: ends the session of the cookie. */
  @Delete('current')
  @HttpCode(204)
  @AnyCaller(WHY)
  @MayFail('not_found')
  async endCurrentSession(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<void> {
    const { session } = await this.sessions.current(request);
    await this.sessions.end(callerOf(request), session.id);
    clearSessionCookie(response);
  }

  /** Retrieves a session of the API key or the person. */
  @Get(':session_id')
  @AnyCaller(WHY)
  async retrieveSession(@Req() request: Request, @Param('session_id') id: string): Promise<SessionResponse> {
    const caller = callerOf(request);
    return toSessionResponse(await this.sessions.get(caller, id), caller.sessionId);
  }

  /** Ends a session of the API key or the person. */
  @Delete(':session_id')
  @HttpCode(204)
  @AnyCaller(WHY)
  async endSession(@Req() request: Request, @Param('session_id') id: string): Promise<void> {
    await this.sessions.end(callerOf(request), id);
  }
}
