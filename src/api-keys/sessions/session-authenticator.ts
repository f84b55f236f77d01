import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import type { Repository } from 'typeorm';
import { LookupCache } from '../../common/cache/lookup-cache.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { Principal } from '../../access/principal.js';
import { isScope } from '../../access/scopes.js';
import { AppConfig } from '../../config/environment.js';
import type { AdminToken } from '../admin-token.verifier.js';
import { keyInvalid } from '../credentials.js';
import { PrincipalCache } from '../principal.cache.js';
import { readSessionCookie } from './session-cookie.js';
import { Session } from './session.entity.js';
import { SessionTokens } from './session-tokens.js';

/** A session that ended must be refused on every replica within 10 s, as keys are. */
const CACHE_MS = 5_000;
const MAX_ENTRIES = 1_000;
const CSRF_HEADER = 'x-gateway-csrf-token';
const READING = new Set(['GET', 'HEAD']);
/** What browsers say of a request that a page of the gateway makes, or a person who types its address. */
const OWN_SITE = new Set(['same-origin', 'none']);

interface Known {
  readonly session: Session | null;
}

/** Finds who logged in with a browser: the owner of an API key, or a person. */
@Injectable()
export class SessionAuthenticator {
  private readonly known = new LookupCache<Known, string>({
    maxEntries: MAX_ENTRIES,
    ttlOf: () => CACHE_MS,
    lookUp: (id) => this.lookUp(id),
  });

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly cache: PrincipalCache,
    private readonly tokens: SessionTokens,
    private readonly config: AppConfig,
  ) {}

  /**
   * The session of a request and who logged in.
   * @throws GatewayError `api_key_invalid`; `permission_denied` for a change without the CSRF token, or from another site
   */
  async authenticate(
    request: Request,
    now: Date,
  ): Promise<{ readonly owner: Principal | AdminToken; readonly sessionId: string }> {
    const token = readSessionCookie(request);
    if (token === undefined) throw keyInvalid('missing');
    const sessionId = await this.tokens.verify(token, now);
    if (sessionId === undefined) throw keyInvalid('session');
    const { session } = await this.known.find(sessionId, sessionId);
    if (session === null || session.expiresAt <= now) throw keyInvalid('session');
    const owner = session.secretId === null ? this.personOf(session) : await this.keyOf(session.secretId, now);
    await this.assertOwnPage(request, token, now);
    return { owner, sessionId };
  }

  /** After a session ended on this replica. */
  clear(): void {
    this.known.clear();
  }

  private async keyOf(secretId: string, now: Date): Promise<Principal> {
    const answer = await this.cache.findOwner(secretId, now.getTime());
    if ('refusal' in answer) throw keyInvalid(answer.refusal);
    return answer.principal;
  }

  /** Those of an identity provider end when another one is configured, or none. */
  private personOf({ issuer, subject, person, organisationId, workspaceId, expiresAt }: Session): AdminToken {
    if (subject === null || person === null || issuer !== this.config.ADMIN_OIDC_ISSUER) throw keyInvalid('session');
    return {
      subject,
      ...(person.name !== null && { name: person.name }),
      organisationIds: [organisationId],
      workspaceId,
      scopes: new Set(person.scopes.filter(isScope)),
      expiresAt,
    };
  }

  private async assertOwnPage(request: Request, token: string, now: Date): Promise<void> {
    const site = request.get('sec-fetch-site');
    if (site !== undefined && !OWN_SITE.has(site)) throw foreignPage('A session is used from another site.');
    if (READING.has(request.method)) return;
    const given = request.get(CSRF_HEADER);
    if (given !== undefined && (await this.tokens.isCsrfToken(given, token, now))) return;
    throw foreignPage(`A change by a session needs the header ${CSRF_HEADER}.`);
  }

  private async lookUp(id: string): Promise<Known> {
    return { session: await this.sessions.findOneBy({ id }) };
  }
}

function foreignPage(message: string): GatewayError {
  return new GatewayError('permission_denied', { message, reason: 'csrf' });
}
