import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { isObject } from '../../common/json/read.js';
import { isUuid } from '../../common/uuid.js';
import { ServerSecrets } from '../../sealing/server-secrets.js';

/** A session lasts a working day. */
export const SESSION_SECONDS = 12 * 3_600;
const ALGORITHM = 'HS256';
const ISSUER = 'tollgate/sessions';

/**
 * Signs and verifies the tokens in the cookies of sessions, and makes their CSRF tokens. The secret changes every month, is stored
 * sealed, and is shared by all gateways of a database. A token of last month is valid until its session ends.
 */
@Injectable()
export class SessionTokens {
  private readonly secrets = new Map<string, Promise<Buffer>>();

  constructor(
    private readonly jwt: JwtService,
    private readonly stored: ServerSecrets,
  ) {}

  async sign(sessionId: string, now: Date): Promise<string> {
    const month = monthOf(now);
    const iat = Math.floor(now.getTime() / 1_000);
    return this.jwt.signAsync(
      { sub: sessionId, iss: ISSUER, iat, exp: iat + SESSION_SECONDS },
      { secret: await this.secretOf(month), algorithm: ALGORITHM, keyid: month },
    );
  }

  /** The id of the session; undefined for a token that is not valid. */
  async verify(token: string, now: Date): Promise<string | undefined> {
    const month = monthIn(this.jwt.decode<unknown>(token, { complete: true }));
    if (month === undefined || !isRecent(month, now)) return undefined;
    const secret = await this.secretOf(month);
    try {
      const payload: unknown = await this.jwt.verifyAsync(token, {
        secret,
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        clockTimestamp: Math.floor(now.getTime() / 1_000),
      });
      return isObject(payload) && typeof payload['sub'] === 'string' && isUuid(payload['sub'])
        ? payload['sub']
        : undefined;
    } catch {
      return undefined;
    }
  }

  /** What a page of the session sends along with each change. */
  async csrfTokenOf(token: string, now: Date): Promise<string> {
    const secret = await this.secretOf(monthIn(this.jwt.decode<unknown>(token, { complete: true })) ?? monthOf(now));
    return createHmac('sha256', secret).update(`csrf ${token}`).digest('base64url');
  }

  async isCsrfToken(given: string, token: string, now: Date): Promise<boolean> {
    const expected = Buffer.from(await this.csrfTokenOf(token, now));
    const sent = Buffer.from(given);
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  }

  private secretOf(month: string): Promise<Buffer> {
    const known = this.secrets.get(month);
    if (known !== undefined) return known;
    const secret = this.stored.getOrCreate(`sessions-${month}`);
    this.secrets.set(month, secret);
    // A failure is not remembered.
    secret.catch(() => this.secrets.delete(month));
    return secret;
  }
}

const MONTH = /^\d{4}-\d{2}$/;

function monthOf(now: Date): string {
  return now.toISOString().slice(0, 7);
}

/** The month in the header of a token that is not verified yet. */
function monthIn(decoded: unknown): string | undefined {
  const header = isObject(decoded) ? decoded['header'] : undefined;
  const month = isObject(header) ? header['kid'] : undefined;
  return typeof month === 'string' && MONTH.test(month) ? month : undefined;
}

/** Of this month, or of the one in which the oldest session began. Others make no secret. */
function isRecent(month: string, now: Date): boolean {
  return month === monthOf(now) || month === monthOf(new Date(now.getTime() - SESSION_SECONDS * 1_000));
}
