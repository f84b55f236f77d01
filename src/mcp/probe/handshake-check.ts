import { isObject } from '../../common/json/read.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { withDeadline } from '../../common/time/with-deadline.js';
import { CLIENT_INFO } from './client-info.js';
import { endSession, LAST_REVISION_WITH_HANDSHAKE } from './end-session.js';
import type { Approach } from './probe-result.js';
import { postRpc, type RpcRequest } from './rpc-post.js';
import { readRevisions } from './stateless-client.js';

/** A server that is known to be of the other era need not be waited for. */
const CHECK_TIMEOUT_MS = 5_000;

/** The revision that a server agrees on with clients that begin with a handshake; undefined when it takes none of them. */
export async function agreedRevision(url: URL, approach: Approach): Promise<string | undefined> {
  let begun: string | undefined;
  let agreed: string | undefined;
  const initialize: RpcRequest = {
    method: 'initialize',
    params: {
      protocolVersion: LAST_REVISION_WITH_HANDSHAKE,
      capabilities: {},
      clientInfo: CLIENT_INFO,
    },
    onSession: (sessionId) => (begun = sessionId),
  };
  try {
    const { message } = await withDeadline(CHECK_TIMEOUT_MS, [approach.deadline], (deadline) =>
      postRpc(url, { ...approach, deadline }, initialize),
    );
    const result = message?.['result'];
    [agreed] = readRevisions(isObject(result) ? [result['protocolVersion']] : []);
    return agreed;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  } finally {
    if (begun !== undefined) await endSession(url, approach, begun, agreed);
  }
}
