import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { isObject } from '../../common/json/read.js';
import { ServerSecrets } from '../../sealing/server-secrets.js';
import type { LoginSecrets } from './login-provider.js';

/** How long someone may take at the identity provider. */
export const ATTEMPT_SECONDS = 600;
const ALGORITHM = 'HS256';
const ISSUER = 'tollgate/logins';
const SECRET_NAME = 'logins';

/** What a browser wants of its log-in. */
export interface LoginWish {
  /** Path of the console to show afterwards. */
  readonly returnTo: string;
  /** Slugs of the place to go to; absent: the first one. */
  readonly organisation?: string | undefined;
  readonly workspace?: string | undefined;
}

/**
 * Log-ins that have begun. Nothing is stored: the browser keeps a signed cookie, and nonce and PKCE verifier follow from its state
 * and a secret of the gateway.
 */
@Injectable()
export class LoginAttempts {
  constructor(
    private readonly jwt: JwtService,
    private readonly stored: ServerSecrets,
  ) {}

  async begin(wish: LoginWish, now: Date): Promise<{ readonly token: string; readonly secrets: LoginSecrets }> {
    const secret = await this.stored.getOrCreate(SECRET_NAME);
    const state = randomBytes(32).toString('base64url');
    const iat = Math.floor(now.getTime() / 1_000);
    const token = await this.jwt.signAsync(
      { ...wish, state, iss: ISSUER, iat, exp: iat + ATTEMPT_SECONDS },
      { secret, algorithm: ALGORITHM },
    );
    return { token, secrets: secretsOf(secret, state) };
  }

  /**
   * What was begun with a cookie; undefined when that is not valid, or of another log-in.
   * @param state that the identity provider sent back
   */
  async resume(
    token: string,
    state: string,
    now: Date,
  ): Promise<{ readonly wish: LoginWish; readonly secrets: LoginSecrets } | undefined> {
    const secret = await this.stored.getOrCreate(SECRET_NAME);
    const claims = await this.verified(token, secret, now);
    if (!isObject(claims) || claims['state'] !== state || typeof claims['returnTo'] !== 'string') return undefined;
    const { returnTo, organisation, workspace } = claims;
    const wish = { returnTo, organisation: textOf(organisation), workspace: textOf(workspace) };
    return { wish, secrets: secretsOf(secret, state) };
  }

  private async verified(token: string, secret: Buffer, now: Date): Promise<unknown> {
    const clockTimestamp = Math.floor(now.getTime() / 1_000);
    try {
      return await this.jwt.verifyAsync(token, { secret, algorithms: [ALGORITHM], issuer: ISSUER, clockTimestamp });
    } catch {
      return undefined;
    }
  }
}

function secretsOf(secret: Buffer, state: string): LoginSecrets {
  const derive = (what: string): string => createHmac('sha256', secret).update(`${what} ${state}`).digest('base64url');
  return { state, nonce: derive('nonce'), verifier: derive('verifier') };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
