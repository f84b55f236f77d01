import { Link } from '@tanstack/react-router';
import type { OverviewAttention } from '../api/types.gen';
import { Badge, type Tone } from '../components/ui/badge';
import { Card } from '../components/ui/card';
import { useTicking } from '../components/when';
import { dollars, fromNow, percent } from '../lib/format';
import { reasonInWords } from '../lib/last-call';
import { groupInWords } from '../lib/limit-words';
import { useNames } from '../lib/names';

interface Kind {
  readonly title: string;
  readonly tone: Tone;
  readonly to: string;
  /** Of that page. */
  readonly view?: string;
  readonly about: (item: OverviewAttention, nameIds: (text: string) => string) => string;
}

const used: Kind['about'] = ({ kind, detail, used_share: share, at }, nameIds) =>
  [
    detail === null ? undefined : groupInWords(detail, nameIds),
    share === null ? undefined : `${percent(share, 1)} used`,
    // Smaller calls may still fit.
    kind === 'group_exhausted' && share !== null && share < 1 ? 'a call did not fit' : undefined,
    at === null ? 'never resets' : `resets ${fromNow(at)}`,
  ]
    .filter(Boolean)
    .join(' · ');

const KINDS: Readonly<Record<OverviewAttention['kind'], Kind>> = {
  group_exhausted: { title: 'Limit refuses calls', tone: 'bad', to: '/limits', about: used },
  limit_near: { title: 'Limit nearly used up', tone: 'warn', to: '/limits', about: used },
  reference_failing: {
    title: 'Secret cannot be read',
    tone: 'bad',
    to: '/providers',
    about: ({ detail, at }) =>
      `${detail ?? 'unknown error'}, ${at === null ? 'never read' : `last read ${fromNow(at)}`}`,
  },
  server_failing: {
    title: 'MCP server fails',
    tone: 'bad',
    to: '/mcp',
    about: ({ detail, at }) =>
      `${detail === null ? 'answered with an error' : reasonInWords(detail)}, last call ${fromNow(at)}`,
  },
  model_without_price: {
    title: 'Model without a price',
    tone: 'warn',
    to: '/models',
    view: 'prices',
    about: ({ detail }) => `refused calls in the last day: ${detail ?? '0'}`,
  },
  model_not_charged: {
    title: 'Model without a price',
    tone: 'warn',
    to: '/models',
    view: 'prices',
    about: ({ detail }) => `calls counted as ${dollars(0)} in the last day: ${detail ?? '0'}`,
  },
  key_expiring: { title: 'Key ends soon', tone: 'warn', to: '/keys', about: ({ at }) => `ends ${fromNow(at)}` },
};

/** What an administrator should look at, the worst first. */
export function Attention({ items }: { readonly items: readonly OverviewAttention[] }) {
  const nameIds = useNames(items.map(({ detail }) => detail ?? ''));
  return (
    <Card title="Needs attention">
      <ul className="divide-y divide-line overflow-y-auto md:max-h-80" tabIndex={0} aria-label="Needs attention">
        {items.map((item) => {
          const { title, tone, to, view, about } = kindOf(item);
          return (
            <li
              key={`${item.kind} ${item.id} ${item.name} ${item.detail}`}
              className="grid gap-1 px-4 py-2.5 sm:grid-cols-[11rem_1fr] sm:items-baseline sm:gap-4"
            >
              <span>
                <Badge tone={tone}>{title}</Badge>
              </span>
              <span className="min-w-0">
                <Link
                  to={to}
                  search={{ view, search: item.name }}
                  className="font-medium wrap-anywhere hover:underline"
                >
                  {item.name}
                </Link>{' '}
                <About words={() => about(item, nameIds)} />
              </span>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

/** A limit that only counts refuses nothing. */
function kindOf({ kind, enforcement }: OverviewAttention): Kind {
  const isOnlyCounted = kind === 'group_exhausted' && enforcement === 'monitor';
  return isOnlyCounted ? { ...KINDS[kind], title: 'Limit exceeded', tone: 'warn' } : KINDS[kind];
}

function About({ words }: { readonly words: () => string }) {
  return <span className="text-xs wrap-anywhere text-muted">{useTicking(words)}</span>;
}
