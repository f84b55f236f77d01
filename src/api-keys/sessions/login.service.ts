import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { Clock } from '../../common/time/clock.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { LoginAttempts, type LoginWish } from './login-attempts.js';
import { LoginGrants } from './login-grants.js';
import { LoginProvider, type LoginSecrets } from './login-provider.js';
import type { PersonGrant } from './person-grants.js';

/** Why a browser that came back from the identity provider is not logged in. */
export type LoginFailure = 'expired' | 'refused' | 'no_role' | 'unavailable';

interface LoginResult {
  readonly grant: PersonGrant;
  readonly returnTo: string;
}

interface FailedLogin {
  readonly failure: LoginFailure;
  /** Undefined where the page that was asked for is not known. */
  readonly returnTo: string | undefined;
}

/** Logs people in at the administrators' identity provider. */
@Injectable()
export class LoginService {
  constructor(
    private readonly provider: LoginProvider,
    private readonly attempts: LoginAttempts,
    private readonly grants: LoginGrants,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'info' | 'warn'>,
  ) {}

  get isOffered(): boolean {
    return this.provider.isConfigured;
  }

  /**
   * Where the browser goes to log in, and the cookie that it comes back with.
   * @throws GatewayError `not_found` without a provider, `identity_provider_unavailable`
   */
  async begin(wish: LoginWish): Promise<{ readonly address: string; readonly token: string }> {
    if (!this.isOffered) throw new GatewayError('not_found');
    const { token, secrets } = await this.attempts.begin(
      { ...wish, returnTo: ownPath(wish.returnTo) },
      this.clock.now(),
    );
    return { address: await this.provider.addressFor(secrets), token };
  }

  /** @param token in the cookie of the browser that came back */
  async finish(request: Request, token: string | undefined): Promise<LoginResult | FailedLogin> {
    if (!this.isOffered) throw new GatewayError('not_found');
    const { searchParams, search } = new URL(request.originalUrl, 'http://gateway.invalid');
    const state = searchParams.get('state') ?? '';
    const attempt = token === undefined ? undefined : await this.attempts.resume(token, state, this.clock.now());
    if (attempt === undefined) return { failure: this.failed('expired'), returnTo: undefined };
    const { returnTo } = attempt.wish;
    const claims = await this.claimsOf(search, attempt.secrets);
    if (typeof claims === 'string') return { failure: claims, returnTo };
    const grant = await this.grants.grantOf(claims, attempt.wish);
    if (grant === undefined) return { failure: this.failed('no_role'), returnTo };
    this.logger.info({ event: 'login_succeeded', organisation_id: grant.organisationId });
    return { grant, returnTo };
  }

  private async claimsOf(search: string, secrets: LoginSecrets): Promise<JsonObject | LoginFailure> {
    try {
      return await this.provider.claimsOf(search, secrets);
    } catch (error) {
      // An error code of the protocol is a word of its registry; what the provider wrote beside it is not logged.
      if (error instanceof AuthorizationResponseError) return this.failed('refused', codeOf(error.error));
      if (error instanceof ResponseBodyError) return this.failed('refused', codeOf(error.error));
      const isTheirs =
        error instanceof UpstreamFailure || error instanceof GatewayError || causeOf(error) instanceof UpstreamFailure;
      if (isTheirs) return this.failed('unavailable');
      return this.failed('refused', error instanceof ClientError ? error.code : undefined);
    }
  }

  private failed(failure: LoginFailure, code?: string): LoginFailure {
    this.logger.warn({ event: 'login_failed', reason: failure, ...(code !== undefined && { code }) });
    return failure;
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}

function codeOf(text: string): string {
  return /^\w{1,64}$/.test(text) ? text : 'unknown';
}

const CONSOLE = '/console';
const BASE = 'http://gateway.invalid';

/**
 * A page of the console, so that a link to the log-in leads nowhere else.
 * @throws GatewayError `validation_failed` for every other address
 */
function ownPath(address: string): string {
  const url = URL.canParse(address, BASE) ? new URL(address, BASE) : undefined;
  const isPage = url?.origin === BASE && (url.pathname === CONSOLE || url.pathname.startsWith(`${CONSOLE}/`));
  if (url === undefined || !isPage || !address.startsWith('/')) {
    throw invalidField('return_to', 'must be a page of the console, such as /console/limits');
  }
  return `${url.pathname}${url.search}`;
}
