import type { ReactNode } from 'react';
import type { RequestLog } from '../api/types.gen';
import { TraceLink } from '../components/trace-link';
import { Dialog } from '../components/ui/dialog';
import { dateTime, dollars, whole } from '../lib/format';
import { useLogin } from '../lib/login-context';
import { useNames } from '../lib/names';
import { providerName } from '../lib/providers';
import { CallBodies } from './call-bodies';
import { CALL_OUTCOMES, useToolCall } from './mcp-outcome';

/** All that the log keeps of a call. */
export function CallDetails({ call, onClose }: { readonly call: RequestLog; readonly onClose: () => void }) {
  const nameIds = useNames([call.actor_id, call.workspace_id ?? '']);
  const { may } = useLogin();
  const toolCall = useToolCall(call);
  const metadata = Object.entries(call.metadata).map(([name, value]) => `${name}=${value}`);
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Ended', dateTime(call.created_at)],
    ['Address', `${call.method} ${call.route}`],
    ['Answer', [String(call.status), call.error_code].filter(Boolean).join(' ')],
    ['Outcome', CALL_OUTCOMES[call.outcome][1]],
    ['By', nameIds(call.actor_id)],
    ['User', call.user_id],
    ['Workspace', call.workspace_id === null ? null : nameIds(call.workspace_id)],
    ['Model', call.model],
    ['Asked for', call.model_requested === call.model ? null : call.model_requested],
    ['Virtual key', call.virtual_key],
    ['Provider', call.provider === null ? null : providerName(call.provider)],
    ['MCP server', call.mcp_server],
    ['MCP method', call.mcp_method],
    ['Tool', toolCall?.tool ?? null],
    ['Tokens', shown(call.tokens, whole)],
    ['Cost', shown(call.cost, dollars)],
    ['Time taken', inMs(call.duration_ms)],
    ['Of it at the provider', shown(call.upstream_ms, inMs)],
    ['First output after', shown(call.first_token_ms, inMs)],
    ['Attempts', shown(call.upstream_attempts, whole)],
    ['Session', call.session],
    ['Metadata', metadata.length === 0 ? null : metadata.join(', ')],
    [
      'Trace',
      <>
        {call.trace_id} <TraceLink trace={call.trace_id} find="changes" />
      </>,
    ],
  ];
  return (
    <Dialog title={call.model ?? call.mcp_server ?? call.route} onClose={onClose}>
      <dl className="grid gap-x-4 gap-y-0.5 sm:grid-cols-[10rem_1fr] sm:gap-y-2 [&_dd]:mb-2 sm:[&_dd]:mb-0">
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name} className="contents">
                <dt className="text-muted">{name}</dt>
                <dd className="wrap-anywhere tabular-nums">{value}</dd>
              </div>
            ),
        )}
      </dl>
      {may('logs.bodies') && <CallBodies call={call} />}
    </Dialog>
  );
}

function shown(value: number | null, inWords: (value: number) => string): string | null {
  return value === null ? null : inWords(value);
}

function inMs(value: number): string {
  return `${whole(value)} ms`;
}
