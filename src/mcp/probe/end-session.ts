import { withDeadline } from '../../common/time/with-deadline.js';
import type { Approach } from './probe-result.js';

export const LAST_REVISION_WITH_HANDSHAKE = '2025-11-25';
/** Of its own: a session is also ended when the time for the test is over. */
const END_TIMEOUT_MS = 2_000;

/** Ends a session that a test has begun, whatever came of the test: a server must not collect them. Does not reject. */
export async function endSession(
  url: URL,
  { headers, network }: Pick<Approach, 'headers' | 'network'>,
  sessionId: string,
  revision: string = LAST_REVISION_WITH_HANDSHAKE,
): Promise<void> {
  const own = { 'mcp-protocol-version': revision, 'mcp-session-id': sessionId };
  await withDeadline(END_TIMEOUT_MS, [], async (signal) => {
    const answer = await network.fetch(url, { method: 'DELETE', headers: { ...own, ...headers }, signal });
    await answer.body?.cancel();
  }).catch(() => undefined);
}
