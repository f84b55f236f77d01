import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import {
  Activity,
  Boxes,
  Gauge,
  KeyRound,
  List,
  LogOut,
  MessageSquare,
  Moon,
  Plug,
  ScrollText,
  Settings,
  Sun,
  Wrench,
} from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Caller, Scope } from '../api/types.gen';
import { useAnnouncement } from '../lib/announce';
import { useIsAway } from '../lib/reach';
import { forgetLogin, type LoggedIn, logOut, messageOf } from '../lib/session';
import { chooseTheme, currentTheme } from '../lib/theme';
import { ErrorNote } from './states';
import { Button, SendButton } from './ui/button';

interface Entry {
  readonly to: string;
  readonly title: string;
  readonly icon: unknown;
  /** Without it the page would show nothing. */
  readonly scope: Scope | undefined;
  /** What it does, only keys may do. */
  readonly isForKeys?: boolean;
}

const PAGES = [
  { to: '/', title: 'Overview', icon: Activity, scope: 'usage.read' },
  { to: '/limits', title: 'Limits', icon: Gauge, scope: 'policies.list' },
  { to: '/keys', title: 'API keys', icon: KeyRound, scope: 'api_keys.list' },
  { to: '/providers', title: 'Providers', icon: Plug, scope: 'virtual_keys.list' },
  { to: '/models', title: 'Models', icon: Boxes, scope: 'model_routes.list' },
  { to: '/mcp', title: 'MCP servers', icon: Wrench, scope: 'mcp_servers.list' },
  { to: '/playground', title: 'Playground', icon: MessageSquare, scope: 'completions.write', isForKeys: true },
  { to: '/calls', title: 'Calls', icon: List, scope: 'logs.list' },
  { to: '/audit', title: 'Audit log', icon: ScrollText, scope: 'audit_logs.list' },
  { to: '/settings', title: 'Settings', icon: Settings, scope: undefined },
] as const satisfies readonly Entry[];

export function Shell({ login }: { readonly login: LoggedIn }) {
  const { caller } = login;
  const whole = useRef<HTMLDivElement>(null);
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  const queries = useQueryClient();
  const leave = useMutation({ mutationFn: logOut, onSuccess: () => forgetLogin(queries) });
  // After a log-in the browser would go on from where the form was, past the first links.
  useEffect(() => whole.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [pathname]);
  return (
    <div ref={whole} tabIndex={-1} className="min-h-screen outline-none md:grid md:grid-cols-[13rem_1fr]">
      <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-10 focus:bg-surface focus:p-2">
        Skip to the content
      </a>
      <header className="flex flex-wrap items-center border-b border-line bg-surface md:sticky md:top-0 md:h-screen md:flex-col md:flex-nowrap md:items-stretch md:border-r md:border-b-0">
        <div className="flex items-center gap-2 px-4 py-3 text-base font-semibold md:py-4">
          <img src="/console/favicon.svg" alt="" className="size-6" />
          Tollgate
        </div>
        <nav
          ref={nav}
          aria-label="Pages of the console"
          className="order-last flex w-full gap-1 overflow-x-auto px-2 pb-2 md:order-none md:flex-1 md:flex-col"
        >
          {PAGES.filter((page) => isShown(page, login)).map(({ to, title, icon: Icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              className="flex items-center gap-2 rounded-md px-3 py-2 whitespace-nowrap text-muted hover:bg-raised"
              activeProps={{ className: 'bg-raised font-medium text-text', 'aria-current': 'page' }}
            >
              <Icon aria-hidden className="size-4" />
              {title}
            </Link>
          ))}
        </nav>
        <div className="ml-auto flex min-w-0 items-center gap-2 px-4 py-2 md:ml-0 md:block md:space-y-2 md:border-t md:border-line md:py-3">
          <div className="max-w-40 min-w-0 text-xs text-muted md:max-w-none">
            <p className="sr-only">Logged in:</p>
            <p className="truncate">{placeOf(caller)}</p>
            <p className="truncate">{caller.name ?? caller.id}</p>
          </div>
          <div className="flex gap-1">
            <ThemeButton />
            <SendButton kind="quiet" size="icon" aria-label="Log out" sent={leave} onSend={() => leave.mutate()}>
              <LogOut aria-hidden className="size-4" />
            </SendButton>
          </div>
        </div>
      </header>
      <main id="content" className="mx-auto w-full max-w-7xl min-w-0 p-4 md:p-6">
        <Outage />
        {/* Without an answer, the cookie still logs this browser in. */}
        {leave.isError && (
          <ErrorNote error={leave.error} message={`You are still logged in. ${messageOf(leave.error)}`} />
        )}
        <Announcements />
        <Outlet />
      </main>
    </div>
  );
}

/** The first page that a caller may see. */
export function firstPageOf(login: LoggedIn): string {
  return PAGES.find((page) => isShown(page, login))?.to ?? '/settings';
}

function isShown({ scope, isForKeys = false }: Entry, { caller, may }: LoggedIn): boolean {
  return (scope === undefined || may(scope)) && (!isForKeys || caller.type === 'api_key');
}

/** What is shown stays, so that nothing that was typed is lost. */
function Outage() {
  const isAway = useIsAway();
  return (
    <p role="status" className="mb-4 rounded-md border border-warn p-3 text-warn empty:hidden">
      {isAway && 'The gateway does not answer. What you see is from before; the page tries again by itself.'}
    </p>
  );
}

/** For screen readers alone. */
function Announcements() {
  return (
    <p role="status" className="sr-only">
      {useAnnouncement()}
    </p>
  );
}

/** The organisation, and the workspace of a caller who sees only one of them. */
function placeOf({ organisation, workspaces, workspace_id: workspaceId }: Caller): string {
  const workspace = workspaces.find(({ id }) => id === workspaceId);
  return [organisation?.name ?? 'No organisation', workspace?.name].filter(Boolean).join(' / ');
}

function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme);
  const other = theme === 'dark' ? 'light' : 'dark';
  const Icon = theme === 'dark' ? Sun : Moon;
  const change = (): void => {
    chooseTheme(other);
    setTheme(other);
  };
  return (
    <Button kind="quiet" size="icon" aria-label={`Use the ${other} theme`} onClick={change}>
      <Icon aria-hidden className="size-4" />
    </Button>
  );
}
