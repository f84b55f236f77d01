import { createHash } from 'node:crypto';
import { type ErrorDetail, fieldError } from '../common/errors/gateway.error.js';
import type { Principal, RateLimit } from '../access/principal.js';

type Owner = Pick<Principal, 'id' | 'organisationId' | 'workspaceId' | 'user'>;

/** Whether two limits count alike. */
export function isSameKind(one: RateLimit, other: RateLimit): boolean {
  return one.unit === other.unit && (one.per ?? 'key') === (other.per ?? 'key');
}

/** The name of the counter of a limit. The id of a user is hashed: it may be an email address. */
export function counterOf({ id, organisationId, workspaceId, user }: Owner, { per, counter }: RateLimit): string {
  if (counter !== undefined) return counter;
  if (per === 'workspace' && workspaceId !== null) return `workspace:${workspaceId}`;
  if (per !== 'user' || user === null) return id;
  const digest = createHash('sha256')
    .update(JSON.stringify([organisationId, user.user_id]))
    .digest('base64url');
  return `user:${digest}`;
}

/** The limits of a key that a caller makes: those that the caller has as well count in its counters, so that keys do not multiply them. */
export function joinCounters(maker: Owner & Pick<Principal, 'rateLimits'>, limits: readonly RateLimit[]): RateLimit[] {
  return limits.map((limit) => {
    const own = maker.rateLimits.find((other) => isSameKind(limit, other));
    return own === undefined ? limit : { ...limit, counter: counterOf(maker, own) };
  });
}

/** New limits of a key, which go on counting where its limits of the same kind do. */
export function keepCounters(before: readonly RateLimit[], limits: readonly RateLimit[]): RateLimit[] {
  return limits.map((limit) => {
    const counter = before.find((other) => isSameKind(limit, other))?.counter;
    return counter === undefined ? limit : { ...limit, counter };
  });
}

/** Limits as a response shows them. */
export function shownLimits(limits: readonly RateLimit[]): Omit<RateLimit, 'counter'>[] {
  return limits.map(({ type, unit, value, per }) => ({ type, unit, value, ...(per && { per }) }));
}

/** Limits per user need a user, and limits per workspace a key of one. */
export function limitProblems(
  limits: readonly RateLimit[],
  { user, workspaceId }: Pick<Owner, 'user' | 'workspaceId'>,
): readonly ErrorDetail[] {
  return limits.flatMap(({ per }, index) => {
    const param = `rate_limits.${index}.per`;
    if (per === 'user' && user === null) return [fieldError(param, 'can be user only for the key of a user')];
    if (per === 'workspace' && workspaceId === null)
      return [fieldError(param, 'can be workspace only for the key of a workspace')];
    return [];
  });
}
