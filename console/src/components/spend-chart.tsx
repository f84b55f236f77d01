import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { dollars } from '../lib/format';

export interface SpendPoint {
  /** Start of the day, Unix seconds. */
  readonly start: number;
  /** Cost by series. */
  readonly costs: Readonly<Record<string, number>>;
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const COLOURS = ['var(--chart-1)', 'var(--chart-2)', 'var(--chart-3)', 'var(--chart-4)', 'var(--chart-5)'];

/** Without more digits than the tick has: rounded ones would repeat. */
const TICK = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 0,
  maximumSignificantDigits: 3,
});
/** `$1.80`, not `$1.8`. */
const tick = (value: number): string => TICK.format(value).replace(/\.\d$/, '$&0');

/** Cost a day as stacked bars; arrow keys go from day to day. The same figures stand in a table for screen readers. */
export function SpendChart({
  points,
  series,
}: {
  readonly points: readonly SpendPoint[];
  readonly series: readonly string[];
}) {
  // A day has all series: the chart says nothing of one that has none.
  const rows = points.map(({ start, costs }) => ({
    day: DAY.format(start * 1_000),
    ...Object.fromEntries(series.map((name) => [name, costs[name] ?? 0])),
  }));
  return (
    <div className="p-4">
      <div className="h-64 overflow-hidden rounded-md outline-accent has-[svg:focus-visible]:outline-2">
        <ResponsiveContainer width="100%" height="100%">
          <BarChart data={rows} aria-label="Cost by day. Arrow keys go from day to day.">
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis dataKey="day" stroke="var(--muted)" tickLine={false} axisLine={false} fontSize={12} />
            <YAxis
              stroke="var(--muted)"
              tickLine={false}
              axisLine={false}
              fontSize={12}
              width={70}
              tickFormatter={tick}
            />
            <Tooltip
              formatter={(value) => dollars(Number(value))}
              cursor={{ fill: 'var(--raised)', stroke: 'var(--line)' }}
              itemSorter={({ name }) => series.indexOf(String(name))}
              contentStyle={{ background: 'var(--surface)', border: '1px solid var(--line)', borderRadius: 6 }}
            />
            <Legend iconType="circle" iconSize={8} itemSorter={null} />
            {series.map((name, at) => (
              <Bar
                key={name}
                dataKey={name}
                stackId="cost"
                fill={COLOURS[at] ?? COLOURS[4]}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
      {/* A table keeps its width, even a hidden one: the page would scroll sideways. */}
      <div className="sr-only">
        <table>
          <caption>Cost by day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {series.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.map(({ start, costs }) => (
              <tr key={start}>
                <th scope="row">{DAY.format(start * 1_000)}</th>
                {series.map((name) => (
                  <td key={name}>{dollars(costs[name] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
