import { createHmac, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { VISIBLE_ASCII } from '../../common/visible-ascii.js';

/** Bytes of the HMAC that are kept: 128 bits cannot be guessed online (RFC 2104, section 5). */
const TAG_BYTES = 16;
const TAG = /^(.+)-([0-9a-f]{32})$/;
/** Some servers keep the whole session in its id; 2.5 kB are known. Headers altogether are bounded by Node, at 16 KiB. */
const MAX_SESSION_ID_CHARACTERS = 4_096;
const MAX_OPENED = 10_000;
/** Of all of it together, which ids of usual length never reach. */
const MAX_OPENED_CHARACTERS = 2 ** 24;

/** Whose session it is. */
export interface SessionOwner {
  readonly serverId: string;
  /** Of the server's URL: once that is moved to another origin, the session must not go there. */
  readonly serverOrigin: string;
  /** `sessionUser` of the caller. */
  readonly user: string;
}

/** What an id was proved to be, and whose. */
interface Opened {
  readonly sessionId: string;
  readonly owner: SessionOwner;
}

/**
 * Binds the session ids of MCP servers to the server, its origin and the user that they were given to: `<id>-<32 hex>`, the latter
 * an HMAC. Nothing is stored, every replica knows it, and a stolen id is of no use to another user.
 */
export class SessionBinding {
  /** By the client's id, so that the calls of a session do not pay for its proof anew. Only what was proved is in it. */
  private readonly opened = new LRUCache<string, Opened>({
    max: MAX_OPENED,
    maxSize: MAX_OPENED_CHARACTERS,
    sizeCalculation: ({ sessionId, owner }, boundId) => sessionId.length + boundId.length + owner.user.length,
  });

  /** @param secrets the first one binds, the others still open: a changed secret must not end sessions */
  constructor(private readonly secrets: readonly [Buffer, ...Buffer[]]) {}

  /** The id for the client. Undefined when the server's is none, or longer than it may be. */
  bind(sessionId: string, owner: SessionOwner, maxCharacters = MAX_SESSION_ID_CHARACTERS): string | undefined {
    // As MCP 2025-03-26 has them ("Session Management").
    if (sessionId.length > maxCharacters || !VISIBLE_ASCII.test(sessionId)) return undefined;
    return `${sessionId}-${tagOf(this.secrets[0], partsOf(sessionId, owner)).toString('hex')}`;
  }

  /** The server's id. Undefined for ids of others, of other servers and of nobody alike: all of them answer 404. */
  unbind(boundId: string, owner: SessionOwner): string | undefined {
    const known = this.opened.get(boundId);
    if (known !== undefined && isSameOwner(known.owner, owner)) return known.sessionId;
    const sessionId = this.prove(boundId, owner);
    if (sessionId !== undefined) this.opened.set(boundId, { sessionId, owner });
    return sessionId;
  }

  private prove(boundId: string, owner: SessionOwner): string | undefined {
    const [, sessionId, tag] = TAG.exec(boundId) ?? [];
    if (sessionId === undefined || tag === undefined || !VISIBLE_ASCII.test(sessionId)) return undefined;
    const given = Buffer.from(tag, 'hex');
    let matches = false;
    // All of them, whichever fits: how long it takes tells nothing.
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

/** What ids were bound to before the origin counted. They still open, so that a new version of the gateway ends no session. */
function partsWithoutOrigin(sessionId: string, { serverId, user }: SessionOwner): readonly string[] {
  return [serverId, user, sessionId];
}

/** Over JSON, where no two lists of parts are spelled alike. */
function tagOf(secret: Buffer, parts: readonly string[]): Buffer {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest().subarray(0, TAG_BYTES);
}
