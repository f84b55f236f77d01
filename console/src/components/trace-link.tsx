import { Link } from '@tanstack/react-router';
import { useLogin } from '../lib/login-context';

const LOGS = {
  calls: { to: '/calls', scope: 'logs.list', words: 'its calls' },
  changes: { to: '/audit', scope: 'audit_logs.list', words: 'its changes' },
} as const;

interface TraceLinkProps {
  readonly trace: string;
  /** The log that the link leads to. */
  readonly find: keyof typeof LOGS;
}

/** Leads to the other log, searched for the trace. */
export function TraceLink({ trace, find }: TraceLinkProps) {
  const { may } = useLogin();
  const { to, scope, words } = LOGS[find];
  if (!may(scope)) return null;
  return (
    <Link to={to} search={{ search: trace }} className="text-accent underline">
      {words}
    </Link>
  );
}
