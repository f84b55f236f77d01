import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../access/route-access.decorators.js';
import { ATTEMPT_SECONDS } from './login-attempts.js';
import { LoginQuery } from './login.query.js';
import { LoginOptionsResponse } from './session.response.js';
import { LoginService } from './login.service.js';
import { clearLoginCookie, readLoginCookie, writeLoginCookie, writeSessionCookie } from './session-cookie.js';
import { SessionsService } from './sessions.service.js';

const PAGE = '/console';
const SEE_OTHER = 303;

@ApiTags('Sessions')
@Controller('v1/login')
export class LoginController {
  constructor(
    private readonly logins: LoginService,
    private readonly sessions: SessionsService,
  ) {}

  /** Returns how people can log in here. */
  @Get()
  @Public('a page must know it before anyone is logged in')
  retrieveLoginOptions(): LoginOptionsResponse {
    return { object: 'login_options', api_key: true, oidc: this.logins.isOffered };
  }

  /** Sends the browser to the administrators' identity provider (authorization code with PKCE), which sends it back. */
  @Get('oidc')
  // For browsers alone: it answers with the address of another page.
  @ApiExcludeEndpoint()
  @Public('who logs in is not known yet')
  async beginLogin(@Query() query: LoginQuery, @Res() response: Response): Promise<void> {
    const { return_to: returnTo, organisation, workspace } = query;
    const { address, token } = await this.logins.begin({ returnTo, organisation, workspace });
    writeLoginCookie(response, token, ATTEMPT_SECONDS);
    response.set('cache-control', 'no-store').redirect(SEE_OTHER, address);
  }

  /**
   * Where the identity provider sends the browser back to. Begins a session and shows the page that was asked for; after a failure
   * this page shows why, by `login_error`: `expired`, `refused`, `no_role` or `unavailable`.
   */
  @Get('oidc/callback')
  @ApiExcludeEndpoint()
  @Public('the identity provider says who logs in')
  async finishLogin(@Req() request: Request, @Res() response: Response): Promise<void> {
    const result = await this.logins.finish(request, readLoginCookie(request));
    clearLoginCookie(response);
    response.set('cache-control', 'no-store');
    if ('failure' in result) {
      const { failure, returnTo = PAGE } = result;
      const separator = returnTo.includes('?') ? '&' : '?';
      return response.redirect(SEE_OTHER, `${returnTo}${separator}login_error=${failure}`);
    }
    const { token, maxAgeSeconds } = await this.sessions.openFor(request, result.grant);
    writeSessionCookie(response, token, maxAgeSeconds);
    response.redirect(SEE_OTHER, result.returnTo);
  }
}
