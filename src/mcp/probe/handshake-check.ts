import { isObject } from '../../common/json/read.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { withDeadline } from '../../common/time/timeout.js';
import { CLIENT_INFO, type ProbeTransport } from './probe.types.js';
import { postRpc, type RpcRequest } from './rpc-post.js';
import { readRevisions } from './stateless-client.js';

const LAST_REVISION_WITH_HANDSHAKE = '2025-11-25';
/** Short, because the server is known to work without a handshake. */
const CHECK_TIMEOUT_MS = 5_000;
/** Separate from the deadline of the probe: a session is ended even when that is over. */
const END_TIMEOUT_MS = 2_000;

/** The revision that a server agrees on in a handshake; undefined when it accepts no handshake. */
export async function agreedRevision(url: URL, probe: ProbeTransport): Promise<string | undefined> {
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
    const { message } = await withDeadline(CHECK_TIMEOUT_MS, [probe.deadline], (deadline) =>
      postRpc(url, { ...probe, deadline }, initialize),
    );
    const result = message?.['result'];
    [agreed] = readRevisions(isObject(result) ? [result['protocolVersion']] : []);
    return agreed;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  } finally {
    if (begun !== undefined) await endSession(url, probe, begun, agreed);
  }
}

/** Ends a session that a probe has started, so that servers do not collect them. Never rejects. */
export async function endSession(
  url: URL,
  { headers, network }: Pick<ProbeTransport, 'headers' | 'network'>,
  sessionId: string,
  revision: string = LAST_REVISION_WITH_HANDSHAKE,
): Promise<void> {
  const own = { 'mcp-protocol-version': revision, 'mcp-session-id': sessionId };
  await withDeadline(END_TIMEOUT_MS, [], async (signal) => {
    const answer = await network.fetch(url, { method: 'DELETE', headers: { ...own, ...headers }, signal });
    await answer.body?.cancel();
  }).catch(() => undefined);
}
