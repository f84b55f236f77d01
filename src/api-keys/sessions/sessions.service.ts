import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import { type FindOptionsWhere, In, IsNull, MoreThan, Or, type Repository } from 'typeorm';
import { GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import { isUuid } from '../../common/uuid.js';
import { AppConfig } from '../../config/environment.js';
import { publicIdOf } from '../api-key-format.js';
import type { AdminToken } from '../admin-token.verifier.js';
import { callerOf } from '../authentication.guard.js';
import type { Caller } from '../authenticator.js';
import { keyInvalid, readCredentials } from '../credentials.js';
import { namedOrganisation } from '../tenant.guard.js';
import type { PersonGrant } from './person-grants.js';
import { SessionAuthenticator } from './session-authenticator.js';
import { readSessionCookie } from './session-cookie.js';
import { Session } from './session.entity.js';
import { SESSION_SECONDS, SessionTokens } from './session-tokens.js';

/** More would be a program that logs in for each call. */
const MAX_SESSIONS = 100;
const MAX_USER_AGENT = 512;

interface CurrentSession {
  readonly session: Session;
  readonly csrfToken: string;
}

export interface OpenedSession extends CurrentSession {
  /** For the cookie. */
  readonly token: string;
  readonly maxAgeSeconds: number;
}

type Owner = Pick<
  Session,
  'organisationId' | 'workspaceId' | 'apiKeyId' | 'secretId' | 'issuer' | 'subject' | 'person'
>;
type OwnerWhere = FindOptionsWhere<Session>;

/** For the end of a session: it is that of its key, if that is earlier. */
const WITH_KEY = { secret: { apiKey: true } } as const;
const NO_KEY = { apiKeyId: null, secretId: null } as const;
const NO_PERSON = { workspaceId: null, issuer: null, subject: null, person: null } as const;

/** Sessions of browsers. A session has the rights of the key, token or person that it began with, and sees the sessions of these. */
@Injectable()
export class SessionsService {
  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly tokens: SessionTokens,
    private readonly authenticator: SessionAuthenticator,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /**
   * Of a token that grants several organisations, the request names one.
   * @throws GatewayError `api_key_invalid` when the request brings no key or token, `conflict` for too many sessions
   */
  async open(request: Request): Promise<OpenedSession> {
    const caller = callerOf(request);
    if (caller.sessionId !== undefined) throw keyInvalid('missing', 'A session begins with an API key or a token.');
    if (caller.kind === 'admin_token') {
      const owner = { ...NO_KEY, ...this.ownerOfToken(caller.token, namedOrganisation(request)) };
      return this.begin(request, owner, this.whereOf(caller), caller.token.expiresAt);
    }
    const credentials = readCredentials(request.headers);
    const secretId = credentials.kind === 'api_key' ? publicIdOf(credentials.key) : undefined;
    if (secretId === undefined) throw keyInvalid('missing', 'A session begins with an API key or a token.');
    const { organisationId: ownId, id: apiKeyId } = caller.principal;
    const owner = { ...NO_PERSON, organisationId: ownId, apiKeyId, secretId };
    const opened = await this.begin(request, owner, this.whereOf(caller));
    return { ...opened, session: await this.get(caller, opened.session.id) };
  }

  /** For a person who logged in at the identity provider. Of too many sessions, the oldest ends. */
  async openFor(request: Request, grant: PersonGrant): Promise<OpenedSession> {
    const issuer = this.issuer();
    const { subject, organisationId, workspaceId, person } = grant;
    const owner = { ...NO_KEY, issuer, subject, organisationId, workspaceId, person };
    const others = { organisationId, issuer, subject };
    await this.endOldest(others);
    return this.begin(request, owner, others);
  }

  /** @throws GatewayError `not_found` when the request came with a key or a token, not with a session */
  async current(request: Request): Promise<CurrentSession> {
    const caller = callerOf(request);
    const token = readSessionCookie(request);
    if (caller.sessionId === undefined || token === undefined) throw new GatewayError('not_found');
    const session = await this.get(caller, caller.sessionId);
    return { session, csrfToken: await this.tokens.csrfTokenOf(token, this.clock.now()) };
  }

  /** Those that have not ended, newest first. */
  async list(caller: Caller): Promise<Session[]> {
    return this.sessions.find({
      where: this.lasting(this.whereOf(caller)),
      relations: WITH_KEY,
      order: { createdAt: 'DESC', id: 'DESC' },
      take: MAX_SESSIONS,
    });
  }

  /** @throws GatewayError `not_found` for unknown sessions and for those of others */
  async get(caller: Caller, id: string): Promise<Session> {
    const where = this.lasting(this.whereOf(caller));
    const session = isUuid(id) ? await this.sessions.findOne({ where: { ...where, id }, relations: WITH_KEY }) : null;
    if (session === null) throw new GatewayError('not_found');
    return session;
  }

  /** @throws GatewayError `not_found` for unknown sessions and for those of others */
  async end(caller: Caller, id: string): Promise<void> {
    const session = await this.get(caller, id);
    await this.sessions.delete({ ...this.whereOf(caller), id: session.id });
    this.authenticator.clear();
  }

  /** Ends the oldest sessions, to make room for a new one. */
  private async endOldest(others: OwnerWhere): Promise<void> {
    const order = { createdAt: 'DESC', id: 'DESC' } as const;
    const oldest = await this.sessions.find({ where: this.lasting(others), order, skip: MAX_SESSIONS - 1 });
    if (oldest.length === 0) return;
    await this.sessions.remove(oldest);
    this.authenticator.clear();
  }

  /** @param until when the session ends at the latest */
  private async begin(request: Request, owner: Owner, others: OwnerWhere, until?: Date): Promise<OpenedSession> {
    const now = this.clock.now();
    if ((await this.sessions.countBy(this.lasting(others))) >= MAX_SESSIONS) {
      throw new GatewayError('conflict', { message: `There are ${MAX_SESSIONS} sessions already: end one first.` });
    }
    const end = now.getTime() + SESSION_SECONDS * 1_000;
    const session = await this.sessions.save(
      this.sessions.create({
        id: randomUUID(),
        ...owner,
        clientAddress: request.ip ?? null,
        userAgent: request.get('user-agent')?.slice(0, MAX_USER_AGENT) ?? null,
        createdAt: now,
        expiresAt: new Date(Math.min(end, until?.getTime() ?? end)),
      }),
    );
    const token = await this.tokens.sign(session.id, now);
    return { session, token, csrfToken: await this.tokens.csrfTokenOf(token, now), maxAgeSeconds: SESSION_SECONDS };
  }

  private ownerOfToken({ subject, organisationIds, scopes }: AdminToken, named: string | undefined) {
    const [only, ...more] = organisationIds;
    const organisationId = named ?? only;
    if (organisationId === undefined || (named === undefined && more.length > 0)) {
      throw invalidField('organisation_id', 'is required when the token grants several organisations');
    }
    if (!organisationIds.includes(organisationId)) {
      throw new GatewayError('tenant_mismatch', { param: 'organisation_id' });
    }
    const person = { name: null, scopes: [...scopes], places: [] };
    return { organisationId, workspaceId: null, issuer: this.issuer(), subject, person };
  }

  private whereOf(caller: Caller): OwnerWhere {
    if (caller.kind === 'api_key') {
      const { organisationId, id: apiKeyId } = caller.principal;
      return { organisationId, apiKeyId };
    }
    const { organisationIds, subject } = caller.token;
    const ids = organisationIds.filter(isUuid);
    return { organisationId: In(ids), issuer: this.issuer(), subject };
  }

  /** Callers without a key are people whom it knows. */
  private issuer(): string {
    return this.config.ADMIN_OIDC_ISSUER ?? '';
  }

  private lasting(where: OwnerWhere): OwnerWhere {
    const later = MoreThan(this.clock.now());
    // Sessions of people have no secret.
    const secret = where.apiKeyId === undefined ? {} : { secret: { validUntil: Or(IsNull(), later) } };
    return { ...where, ...secret, expiresAt: later };
  }
}
