import type { ListSearch, Times, useListSearch } from '../lib/list-search';
import { dayOf, endOfDay } from '../lib/format';
import { Choose } from './list-tools';
import { Input } from './ui/field';

const TIMES = {
  '': 'At any time',
  hour: 'In the last hour',
  day: 'In the last 24 hours',
  week: 'In the last 7 days',
  month: 'In the last 30 days',
  days: 'On days …',
} as const satisfies Record<'' | NonNullable<ListSearch['time']>, string>;

const SECONDS = { hour: 3_600, day: 86_400, week: 604_800, month: 2_592_000 } as const;
const DAY_SECONDS = 86_400;

/** Chooses from when to when a log is shown. */
export function TimeChoice({ list }: { readonly list: ReturnType<typeof useListSearch> }) {
  const { time = '', from = '', to = '', onTime } = list;
  const today = dayOf(Date.now() / 1_000);
  return (
    <>
      <Choose
        label="Time"
        value={time}
        options={TIMES}
        onChoose={(next) =>
          onTime({ time: next, from: next === 'days' ? today : '', to: next === 'days' ? today : '' })
        }
      />
      {time === 'days' && (
        <>
          <Day label="From day (UTC)" value={from} onChoose={(next) => onTime({ from: next })} />
          <Day label="To day (UTC)" value={to} onChoose={(next) => onTime({ to: next })} />
        </>
      )}
    </>
  );
}

/** The times as the gateway's query has them. */
export function timeFilter({ time, from, to }: Times): { readonly from?: number; readonly to?: number } {
  if (time === undefined) return {};
  if (time !== 'days') return { from: Math.floor(Date.now() / 1_000) - SECONDS[time] };
  return {
    ...(from !== undefined && { from: Math.max(0, endOfDay(from) + 1 - DAY_SECONDS) }),
    ...(to !== undefined && { to: Math.max(0, endOfDay(to)) }),
  };
}

interface DayProps {
  readonly label: string;
  readonly value: string;
  readonly onChoose: (day: string) => void;
}

function Day({ label, value, onChoose }: DayProps) {
  return (
    <Input
      type="date"
      aria-label={label}
      title={label}
      className="sm:w-40"
      value={value}
      onChange={({ target }) => onChoose(target.value)}
    />
  );
}
