import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, In, IsNull, MoreThan, Not, type Repository } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { tenantWhere } from '../../access/tenant-where.js';
import { auditRecords } from '../../audit/audit-record.js';
import { AuditService } from '../../audit/audit.service.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isStorableText } from '../../common/storable-text.js';
import { Clock } from '../../common/time/clock.js';
import { AppConfig } from '../../config/environment.js';
import { SessionAuthenticator } from './session-authenticator.js';
import { Session } from './session.entity.js';

/** Of an organisation, the newest: more people are not at work at once. */
const MAX_SESSIONS = 5_000;
const FOR_CHANGE = { mode: 'pessimistic_write' } as const;
const recordOf = auditRecords<'end'>('sessions', 'session');

/** The sessions of people, as administrators of their organisation see and end them. */
@Injectable()
export class MemberSessionsService {
  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly audit: AuditService,
    private readonly authenticator: SessionAuthenticator,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /** Those that have not ended, newest first. */
  async list(principal: Principal): Promise<Session[]> {
    return this.sessions.find({
      where: { ...this.lasting(principal), subject: Not(IsNull()) },
      order: { createdAt: 'DESC', id: 'DESC' },
      take: MAX_SESSIONS,
    });
  }

  /**
   * Ends the sessions of a person.
   * @throws GatewayError `not_found` for a person who is not logged in where the caller may look
   */
  async endAll(principal: Principal, subject: string): Promise<void> {
    if (!isStorableText(subject)) throw new GatewayError('not_found');
    const where = { ...this.lasting(principal), subject };
    await this.sessions.manager.transaction(async (manager) => {
      const ended = await manager.find(Session, { where, order: { id: 'ASC' }, lock: FOR_CHANGE });
      if (ended.length === 0) throw new GatewayError('not_found');
      await manager.delete(Session, { ...tenantWhere(principal), id: In(ended.map(({ id }) => id)) });
      for (const session of ended) {
        const { id, workspaceId, person } = session;
        const entry = recordOf('end', { id, workspaceId, name: person?.name ?? subject }, [], {
          before: factsOf(session),
        });
        await this.audit.record(manager, principal, entry);
      }
    });
    this.authenticator.clear();
  }

  private lasting(principal: Principal): FindOptionsWhere<Session> {
    const issuer = this.config.ADMIN_OIDC_ISSUER ?? '';
    return { ...tenantWhere(principal), issuer, expiresAt: MoreThan(this.clock.now()) };
  }
}

function factsOf({ subject, clientAddress, userAgent }: Session) {
  return { member: subject, client_address: clientAddress, user_agent: userAgent };
}
