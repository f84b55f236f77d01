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
  /** Unix seconds. A session ends with its API key, or with the secret of it that was rotated, if that is earlier. */
  readonly expires_at: number;
}

/** Where a person who logged in may go. Logging in there again changes the place. */
export class SessionPlaceResponse {
  /** Slug. */
  readonly organisation: string;
  /** Slug; null: all workspaces. */
  readonly workspace: string | null;
  /** `owner`, `admin`, `member` or `auditor`. */
  readonly role: string;
}

export class LoginOptionsResponse {
  readonly object: 'login_options';
  /** Always true: `POST /v1/sessions` takes an API key. */
  readonly api_key: boolean;
  /** Whether `GET /v1/login/oidc` leads to an identity provider. */
  readonly oidc: boolean;
}

export class OpenSessionResponse extends SessionResponse {
  /** Value of the header `x-gateway-csrf-token`, which every change by this session needs. */
  readonly csrf_token: string;
  /** Everywhere that the person may go, in the order of ADMIN_OIDC_ROLES; empty for keys and tokens. */
  readonly places: SessionPlaceResponse[];
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
  return { ...factsOf(session, true), csrf_token: csrfToken, places: [...(session.person?.places ?? [])] };
}

function factsOf(session: Session, isCurrent: boolean) {
  return {
    id: session.id,
    object: 'session',
    is_current: isCurrent,
    client_address: session.clientAddress,
    user_agent: session.userAgent,
    created_at: toUnixSeconds(session.createdAt),
    expires_at: toUnixSeconds(endOf(session)),
  } as const;
}

function endOf({ expiresAt, secret }: Session): Date {
  const ends = [expiresAt, secret?.validUntil, secret?.apiKey?.expiresAt].flatMap((end) => end?.getTime() ?? []);
  return new Date(Math.min(...ends));
}
