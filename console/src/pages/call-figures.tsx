import { useQuery } from '@tanstack/react-query';
import { listLogsOptions } from '../api/@tanstack/react-query.gen';
import { dollars, whole } from '../lib/format';
import { useLogin } from '../lib/login-context';

const RETRY_MS = 700;
/** The log has a call about a second after its end. */
const MAX_TRIES = 10;

interface CallFiguresProps {
  /** null while the call runs. */
  readonly traceId: string | null;
  readonly times: readonly (readonly [string, string])[];
}

/** How long a call took, and what the log of calls says that it cost. */
export function CallFigures({ traceId, times }: CallFiguresProps) {
  const { may } = useLogin();
  const isAsked = traceId !== null && may('logs.list');
  const logs = useQuery({
    ...listLogsOptions({ query: { trace_id: traceId ?? '' } }),
    enabled: isAsked,
    refetchInterval: ({ state }) => (state.data?.total === 0 && state.dataUpdateCount < MAX_TRIES ? RETRY_MS : false),
  });
  const call = isAsked ? logs.data?.data[0] : undefined;
  const figures = [
    ...times,
    ['Tokens', show(call?.tokens, whole)] as const,
    ['Cost', show(call?.cost, dollars)] as const,
  ];
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 border-t border-line px-4 py-2 text-xs">
      {figures.map(([label, value]) => (
        <div key={label} className="flex gap-1.5">
          <dt className="text-muted">{label}</dt>
          <dd className="font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function show(value: number | null | undefined, inWords: (value: number) => string): string {
  return value === undefined || value === null ? '–' : inWords(value);
}
