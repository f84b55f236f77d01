import { isObject, stringOrUndefined } from '../../common/json/read.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { Approach } from './reached-server.js';
import { postRpc } from './rpc-post.js';

const LAST_REVISION_WITH_HANDSHAKE = '2025-11-25';
/** A server that is known to be of the other era need not be waited for. */
const CHECK_TIMEOUT_MS = 5_000;

/** The revision that a server agrees on with clients that begin with a handshake; undefined when it takes none of them. */
export async function agreedRevision(url: URL, approach: Approach): Promise<string | undefined> {
  const deadline = AbortSignal.any([approach.deadline, AbortSignal.timeout(CHECK_TIMEOUT_MS)]);
  const bounded = { ...approach, deadline };
  try {
    const { message, sessionId } = await postRpc(url, bounded, {
      method: 'initialize',
      params: {
        protocolVersion: LAST_REVISION_WITH_HANDSHAKE,
        capabilities: {},
        clientInfo: { name: 'tollgate', version: '0.1.0' },
      },
    });
    // A server must not collect the sessions of tests.
    if (sessionId !== undefined) await endSession(url, bounded, sessionId);
    const result = message?.['result'];
    return isObject(result) ? stringOrUndefined(result['protocolVersion']) : undefined;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

async function endSession(url: URL, { headers, network, deadline }: Approach, sessionId: string): Promise<void> {
  const own = { 'mcp-protocol-version': LAST_REVISION_WITH_HANDSHAKE, 'mcp-session-id': sessionId };
  await network
    .fetch(url, { method: 'DELETE', headers: { ...own, ...headers }, signal: deadline })
    .then((answer) => answer.body?.cancel())
    .catch(() => undefined);
}
