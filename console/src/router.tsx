import { type QueryClient, useQuery } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, Link, Navigate } from '@tanstack/react-router';
import { Page } from './components/page';
import { firstPageOf, Shell } from './components/shell';
import { Empty, ErrorNote, Loading } from './components/states';
import { listSearch } from './lib/list-search';
import { LoginContext, useLogin } from './lib/login-context';
import { loginQuery } from './lib/session';
import { AuditPage } from './pages/audit';
import { CallsPage } from './pages/calls';
import { KeysPage } from './pages/keys';
import { LimitPage } from './pages/limit';
import { LimitsPage } from './pages/limits';
import { LoginPage } from './pages/login';
import { McpPage } from './pages/mcp';
import { McpServerPage } from './pages/mcp-server';
import { ModelsPage } from './pages/models';
import { OverviewPage } from './pages/overview';
import { PlaygroundPage } from './pages/playground';
import { ProvidersPage } from './pages/providers';
import { SettingsPage } from './pages/settings';
import { WebhookDeliveriesPage } from './pages/webhook-deliveries';

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });
const route = <Path extends string>(path: Path, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => root, path, component, validateSearch: listSearch });

const routeTree = root.addChildren([
  route('/', HomePage),
  route('/limits', LimitsPage),
  route('/limits/$ref', LimitPage),
  route('/keys', KeysPage),
  route('/providers', ProvidersPage),
  route('/models', ModelsPage),
  route('/mcp', McpPage),
  route('/mcp/$ref', McpServerPage),
  route('/playground', PlaygroundPage),
  route('/calls', CallsPage),
  route('/audit', AuditPage),
  route('/settings', SettingsPage),
  route('/settings/webhooks/$id', WebhookDeliveriesPage),
]);

export function createConsoleRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    basepath: '/console',
    context: { queryClient },
    defaultPreload: false,
    defaultErrorComponent: Broken,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}

function Root() {
  const login = useQuery(loginQuery);
  if (login.isPending) return <Loading />;
  // What was there before a failure stays: forms keep what was typed into them.
  if (login.data === undefined) return <ErrorNote error={login.error} onRetry={() => void login.refetch()} />;
  if (login.data === null) return <LoginPage />;
  return (
    <LoginContext value={login.data}>
      <Shell key={login.data.sessionId} login={login.data} />
    </LoginContext>
  );
}

/** The overview, or for those who may not see it the first page that they may. */
function HomePage() {
  const to = firstPageOf(useLogin());
  return to === '/' ? <OverviewPage /> : <Navigate to={to} replace />;
}

/** A defect of a page must not take the whole console away. */
function Broken({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  return <ErrorNote error={error instanceof Error ? error : new Error('The page failed.')} onRetry={reset} />;
}

function NotFound() {
  return (
    <Page title="Not found">
      <Empty>
        There is no such page.{' '}
        <Link to="/" className="text-accent underline">
          Go to the overview
        </Link>
      </Empty>
    </Page>
  );
}
