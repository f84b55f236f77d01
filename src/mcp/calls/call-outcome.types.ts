export const CALL_OUTCOMES = ['ok', 'tool_error', 'rpc_error', 'gateway_error', 'unknown'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];
