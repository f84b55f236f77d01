import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { announce } from './lib/announce';
import { showChanges } from './lib/changed-resource';
import { isOutage, noteAnswer, refreshEvery } from './lib/reach';
import { ApiError, checkLogin, followOtherTabs, setUpClient } from './lib/session';
import { currentTheme, showTheme } from './lib/theme';
import { createConsoleRouter } from './router';
import './styles.css';

showTheme(currentTheme());
setUpClient();

declare module '@tanstack/react-query' {
  interface Register {
    mutationMeta: {
      /** What screen readers say when it is done, where its form is gone by then. */
      readonly done?: string;
    };
  }
}

const MAX_RETRIES = 2;
/** A session that ended elsewhere: the page must not go on as if it were logged in. */
function leaveWhenRefused(error: Error): void {
  if (error instanceof ApiError && error.status === 401) checkLogin(queryClient);
}

function isRefusal(error: Error): boolean {
  return error instanceof ApiError && error.status < 500;
}

const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      noteAnswer(error);
      leaveWhenRefused(error);
    },
    onSuccess: () => noteAnswer(),
  }),
  mutationCache: new MutationCache({
    onError: (error, _variables, _result, mutation) => {
      if (mutation.options.mutationKey?.[0] !== 'login') leaveWhenRefused(error);
    },
    onSuccess: (_data, _variables, _result, { meta }) => {
      if (meta?.done !== undefined) announce(meta.done);
    },
    // Whatever was changed may stand in any list. Forms must not wait for that: a list that does not come would keep what the
    // gateway said of the change from being shown.
    onSettled: () => void queryClient.invalidateQueries({ predicate: ({ meta }) => meta?.['isOnce'] !== true }),
  }),
  defaultOptions: {
    // A browser that thinks it is offline still reaches a gateway on its own machine.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchInterval: refreshEvery(false),
      // What the gateway refuses, it refuses again; while it is away, the interval tries.
      retry: (failures, error) => failures < MAX_RETRIES && !isOutage(error) && !isRefusal(error),
    },
  },
});
showChanges(queryClient);
followOtherTabs(queryClient);
const router = createConsoleRouter(queryClient);

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no element "root"');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
