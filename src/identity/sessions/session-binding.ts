import { createHmac, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { VISIBLE_ASCII } from '../../common/constants.js';

/** Truncated length of the HMAC: 128 bits cannot be guessed online (RFC 2104, section 5). */
const TAG_BYTES = 16;
const TAG = /^(.+)-([0-9a-f]{32})$/;
/** Some servers keep the whole session in its id, of up to 2.5 kB. Node limits all headers to 16 KiB. */
const MAX_SESSION_ID_CHARACTERS = 4_096;
const MAX_CACHED = 10_000;
/** The characters of all entries together. Ids of usual length never reach it. */
const MAX_CACHED_CHARACTERS = 2 ** 24;

/** The owner of a session. */
export interface SessionOwner {
  readonly serverId: string;
  /** Origin of the server's URL. When the server moves, its sessions must not move with it. */
  readonly serverOrigin: string;
  /** `sessionUser` of the caller. */
  readonly user: string;
}

/** A verified session id and its owner. */
interface VerifiedId {
  readonly sessionId: string;
  readonly owner: SessionOwner;
}

/**
 * Binds the session ids of MCP servers to the server, its origin and the user: `<id>-<32 hex>`, where the hex is an HMAC. Nothing
 * is stored, every replica can check an id, and a stolen id is useless to another user.
 */
export class SessionBinding {
  /** Verified ids, by the client's id, so that the HMAC is computed once per session. */
  private readonly verified = new LRUCache<string, VerifiedId>({
    max: MAX_CACHED,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: ({ sessionId, owner }, boundId) => sessionId.length + boundId.length + owner.user.length,
  });

  /** @param secrets the first one binds; the others are still accepted, so that a rotation ends no session */
  constructor(private readonly secrets: readonly [Buffer, ...Buffer[]]) {}

  /** The id for the client. Undefined when the server's id is invalid or too long. */
  bind(sessionId: string, owner: SessionOwner, maxCharacters = MAX_SESSION_ID_CHARACTERS): string | undefined {
    // Visible ASCII, as in MCP 2025-03-26, "Session Management".
    if (sessionId.length > maxCharacters || !VISIBLE_ASCII.test(sessionId)) return undefined;
    return `${sessionId}-${tagOf(this.secrets[0], partsOf(sessionId, owner)).toString('hex')}`;
  }

  /** The server's id. Undefined for an id of another user or server, or an invalid one: all of them give 404. */
  unbind(boundId: string, owner: SessionOwner): string | undefined {
    const known = this.verified.get(boundId);
    if (known !== undefined && isSameOwner(known.owner, owner)) return known.sessionId;
    const sessionId = this.verify(boundId, owner);
    if (sessionId !== undefined) this.verified.set(boundId, { sessionId, owner });
    return sessionId;
  }

  private verify(boundId: string, owner: SessionOwner): string | undefined {
    const [, sessionId, tag] = TAG.exec(boundId) ?? [];
    if (sessionId === undefined || tag === undefined || !VISIBLE_ASCII.test(sessionId)) return undefined;
    const given = Buffer.from(tag, 'hex');
    let matches = false;
    // Never stops early, so that the time reveals nothing.
    for (const secret of this.secrets) {
      for (const parts of [partsOf(sessionId, owner), partsWithoutOrigin(sessionId, owner)]) {
        if (timingSafeEqual(tagOf(secret, parts), given)) matches = true;
      }
    }
    return matches ? sessionId : undefined;
  }
}

function isSameOwner(one: SessionOwner, other: SessionOwner): boolean {
  return one.serverId === other.serverId && one.user === other.user && one.serverOrigin === other.serverOrigin;
}

function partsOf(sessionId: string, { serverId, serverOrigin, user }: SessionOwner): readonly string[] {
  return [serverId, user, sessionId, serverOrigin];
}

/** Without the origin, as older versions bound ids. Still accepted, so that an update of the gateway ends no session. */
function partsWithoutOrigin(sessionId: string, { serverId, user }: SessionOwner): readonly string[] {
  return [serverId, user, sessionId];
}

/** Over JSON, so that two different lists never give the same text. */
function tagOf(secret: Buffer, parts: readonly string[]): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest().subarray(0, TAG_BYTES);
}
