import { toUnixSeconds } from '../../common/time/unix-time.js';
import type { Session } from './session.entity.js';

export class SessionResponse {
  readonly id: string;
  readonly object: 'session';
  /** Whether the request came by this session. */
  readonly is_current: boolean;
  /** Address of the browser, as far as the gateway can see it. */
  readonly client_address: string | null;
  /** What the browser says it is. */
  readonly user_agent: string | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly expires_at: number;
}

export class OpenSessionResponse extends SessionResponse {
  /** Value of the header `x-gateway-csrf-token`, which every change by this session needs. */
  readonly csrf_token: string;
}

export class SessionListResponse {
  readonly object: 'list';
  readonly data: SessionResponse[];
  readonly total: number;
}

/** @param currentId of the session by which the request came */
export function toSessionResponse(session: Session, currentId: string | undefined): SessionResponse {
  return factsOf(session, session.id === currentId);
}

export function toOpenSessionResponse(session: Session, csrfToken: string): OpenSessionResponse {
  return { ...factsOf(session, true), csrf_token: csrfToken };
}

function factsOf(session: Session, isCurrent: boolean) {
  return {
    id: session.id,
    object: 'session',
    is_current: isCurrent,
    client_address: session.clientAddress,
    user_agent: session.userAgent,
    created_at: toUnixSeconds(session.createdAt),
    expires_at: toUnixSeconds(session.expiresAt),
  } as const;
}
