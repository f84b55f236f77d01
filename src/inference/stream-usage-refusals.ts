import { LRUCache } from 'lru-cache';
import type { UpstreamAnswer } from '../upstream/upstream.types.js';

const MAX_SERVERS = 10_000;
const REMEMBERED_MS = 600_000;
/** The member that requests usage, or its field. */
const NAMED = /stream_options|include_usage/;

type NoteRefusal = (answer: UpstreamAnswer) => void;

/** The body of a request, once with the option that requests usage, and once as the client wrote it. */
interface Bodies {
  readonly asking: Buffer;
  readonly plain: Buffer;
}

/**
 * Remembers servers that refuse the option that requests usage, as older ones do. They receive the request as the
 * client wrote it, since the gateway must not make it fail.
 */
export class StreamUsageRefusals {
  readonly #known = new LRUCache<string, true>({ max: MAX_SERVERS, ttl: REMEMBERED_MS });

  /**
   * Sends a request with the option, and again without it when the server refuses the option.
   * @param server identifies the server; its refusal is remembered for ten minutes
   * @param noteRefusal receives the refusal for the client
   */
  async send<Answer>(
    server: string,
    { asking, plain }: Bodies,
    noteRefusal: NoteRefusal,
    send: (body: Buffer, noteRefusal: NoteRefusal) => Promise<Answer>,
  ): Promise<Answer> {
    if (asking === plain || this.#known.has(server)) return send(plain, noteRefusal);
    let refused: UpstreamAnswer | undefined;
    try {
      return await send(asking, (answer) => void (refused = answer));
    } catch (error) {
      if (refused === undefined || !isAboutAsking(refused)) {
        if (refused !== undefined) noteRefusal(refused);
        throw error;
      }
    }
    const answer = await send(plain, noteRefusal);
    // Only a success proves that the option was the reason: a client could cause any wording of a refusal.
    this.#known.set(server, true);
    return answer;
  }
}

function isAboutAsking({ status, body }: UpstreamAnswer): boolean {
  return (status === 400 || status === 422) && NAMED.test(body.toString('latin1'));
}
