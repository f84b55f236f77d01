import type { McpServer } from '../api/types.gen';
import { lastCallInWords, type LastCallTone } from '../lib/last-call';
import { When } from './when';

const COLOURS: Readonly<Record<LastCallTone, string>> = {
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
  plain: '',
};

/** How the last call of an MCP server ended, and when. */
export function LastCall({ server: { last_call: call } }: { readonly server: Pick<McpServer, 'last_call'> }) {
  if (call === null) return <span className="text-muted">no call yet</span>;
  const { tone, verb, reason } = lastCallInWords(call);
  return (
    <span className={COLOURS[tone]}>
      {verb} <When at={call.at} />
      {reason !== undefined && `: ${reason}`}
    </span>
  );
}
