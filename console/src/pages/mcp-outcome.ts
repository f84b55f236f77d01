import { useQuery } from '@tanstack/react-query';
import { listMcpServerCallsOptions } from '../api/@tanstack/react-query.gen';
import type { McpCall, RequestLog } from '../api/types.gen';
import type { Tone } from '../components/ui/badge';
import { useLogin } from '../lib/login-context';

export const OUTCOMES: Readonly<Record<McpCall['outcome'], readonly [Tone, string]>> = {
  ok: ['good', 'ok'],
  tool_error: ['bad', 'tool failed'],
  rpc_error: ['bad', 'server refused'],
  gateway_error: ['warn', 'gateway refused'],
  unknown: ['plain', 'answer not seen'],
};

/** Of calls of any kind. */
export const CALL_OUTCOMES: Readonly<Record<RequestLog['outcome'], readonly [Tone, string]>> = {
  ...OUTCOMES,
  provider_error: ['bad', 'provider failed'],
  cancelled: ['warn', 'client left'],
};

/** Both logs write a call when it is over, and a stream may end later for one than for the other. */
const APART_SECONDS = 60;

/** The tool of a call, of the server's own log. Undefined unless exactly one call fits. */
export function useToolCall({ mcp_server: server, mcp_method, trace_id, created_at }: RequestLog) {
  const { may } = useLogin();
  const range = { from: created_at - APART_SECONDS, to: created_at + APART_SECONDS };
  const found = useQuery({
    ...listMcpServerCallsOptions({
      path: { ref: server ?? '' },
      query: { search: trace_id, page_size: 100, ...range },
    }),
    enabled: server !== null && mcp_method === 'tools/call' && may('mcp_servers.read'),
  });
  const [call, ...others] = (found.data?.data ?? []).filter(({ rpc_method: method }) => method === mcp_method);
  return others.length === 0 ? call : undefined;
}
