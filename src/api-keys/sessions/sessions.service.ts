import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import { MoreThan, type Repository } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import { isUuid } from '../../common/uuid.js';
import { publicIdOf } from '../api-key-format.js';
import type { Caller } from '../authenticator.js';
import { keyInvalid, readCredentials } from '../credentials.js';
import { SessionAuthenticator } from './session-authenticator.js';
import { readSessionCookie } from './session-cookie.js';
import { Session } from './session.entity.js';
import { SESSION_SECONDS, SessionTokens } from './session-tokens.js';

/** More would be a program that logs in for each call. */
const MAX_SESSIONS_OF_KEY = 100;
const MAX_USER_AGENT = 512;

export type KeyCaller = Extract<Caller, { readonly kind: 'api_key' }>;

interface CurrentSession {
  readonly session: Session;
  readonly csrfToken: string;
}

interface OpenedSession extends CurrentSession {
  /** For the cookie. */
  readonly token: string;
  readonly maxAgeSeconds: number;
}

/** Sessions of browsers. A session has the rights of the API key that it began with, and sees the sessions of that key. */
@Injectable()
export class SessionsService {
  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly tokens: SessionTokens,
    private readonly authenticator: SessionAuthenticator,
    private readonly clock: Clock,
  ) {}

  /** @throws GatewayError `api_key_invalid` for an administrator's token */
  callerOf({ anyCaller }: Request): KeyCaller {
    if (anyCaller?.kind === 'api_key') return anyCaller;
    throw keyInvalid('missing', 'Sessions are for API keys.');
  }

  /** @throws GatewayError `api_key_invalid` when the request brings no API key, `conflict` for too many sessions */
  async open(request: Request): Promise<OpenedSession> {
    const { principal } = this.callerOf(request);
    const credentials = readCredentials(request.headers);
    const secretId = credentials.kind === 'api_key' ? publicIdOf(credentials.key) : undefined;
    if (secretId === undefined) throw keyInvalid('missing', 'A session begins with an API key.');
    const now = this.clock.now();
    const { organisationId, id: apiKeyId } = principal;
    const others = await this.sessions.countBy({ organisationId, apiKeyId, expiresAt: MoreThan(now) });
    if (others >= MAX_SESSIONS_OF_KEY) {
      throw new GatewayError('conflict', {
        message: `The API key has ${MAX_SESSIONS_OF_KEY} sessions: end one first.`,
      });
    }
    const session = await this.sessions.save(
      this.sessions.create({
        id: randomUUID(),
        organisationId,
        apiKeyId,
        secretId,
        clientAddress: request.ip ?? null,
        userAgent: request.get('user-agent')?.slice(0, MAX_USER_AGENT) ?? null,
        createdAt: now,
        expiresAt: new Date(now.getTime() + SESSION_SECONDS * 1_000),
      }),
    );
    const token = await this.tokens.sign(session.id, now);
    return { session, token, csrfToken: await this.tokens.csrfTokenOf(token, now), maxAgeSeconds: SESSION_SECONDS };
  }

  /** @throws GatewayError `not_found` when the request came with a key, not with a session */
  async current(request: Request): Promise<CurrentSession> {
    const caller = this.callerOf(request);
    const token = readSessionCookie(request);
    if (caller.sessionId === undefined || token === undefined) throw new GatewayError('not_found');
    const session = await this.get(caller, caller.sessionId);
    return { session, csrfToken: await this.tokens.csrfTokenOf(token, this.clock.now()) };
  }

  /** Those that have not ended, newest first. */
  async list(caller: KeyCaller): Promise<Session[]> {
    return this.sessions.find({
      where: this.whereOf(caller),
      order: { createdAt: 'DESC', id: 'DESC' },
      take: MAX_SESSIONS_OF_KEY,
    });
  }

  /** @throws GatewayError `not_found` for unknown sessions and for those of other keys */
  async get(caller: KeyCaller, id: string): Promise<Session> {
    const session = isUuid(id) ? await this.sessions.findOneBy({ ...this.whereOf(caller), id }) : null;
    if (session === null) throw new GatewayError('not_found');
    return session;
  }

  /** @throws GatewayError `not_found` for unknown sessions and for those of other keys */
  async end(caller: KeyCaller, id: string): Promise<void> {
    const session = await this.get(caller, id);
    await this.sessions.delete({ ...this.whereOf(caller), id: session.id });
    this.authenticator.clear();
  }

  private whereOf({ principal: { organisationId, id: apiKeyId } }: KeyCaller) {
    return { organisationId, apiKeyId, expiresAt: MoreThan(this.clock.now()) };
  }
}
