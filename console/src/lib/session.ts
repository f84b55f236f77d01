import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { client } from '../api/client.gen';
import { createSession, endCurrentSession, retrieveCaller, retrieveCurrentSession } from '../api/sdk.gen';
import type { Caller, ErrorBody, ErrorResponse, Scope, SessionPlace } from '../api/types.gen';

const CSRF_HEADER = 'x-gateway-csrf-token';
const LOGIN = 'login';
const READING = new Set(['GET', 'HEAD']);

let csrfToken: string | undefined;
/** Whether the last login ended without a log-out here. */
let hasEnded = false;

/**
 * What the gateway said when it refused a request, or that it did not answer. The generated client names the type of its body
 * for it, which it has as well.
 */
export class ApiError extends Error implements ErrorResponse {
  override readonly name = 'ApiError';

  constructor(
    /** 0: there was no answer. */
    readonly status: number,
    readonly error: ErrorBody,
    readonly traceId: string | null,
  ) {
    super(error.message);
  }
}

export type Failure = Error | ErrorResponse;

export function messageOf(failure: Failure): string {
  return failure instanceof Error ? failure.message : failure.error.message;
}

/** Lets every request of the generated client carry the CSRF token, and fail with the gateway's own message. */
export function setUpClient(): void {
  client.setConfig({ baseUrl: '' });
  client.interceptors.request.use((request) => {
    if (csrfToken !== undefined && !READING.has(request.method)) request.headers.set(CSRF_HEADER, csrfToken);
    return request;
  });
  client.interceptors.error.use((error, response) => toApiError(error, response));
}

/** What the gateway said of a refused request. */
export function toApiError(error: unknown, response: Response | undefined): ApiError {
  const traceId = response?.headers.get('x-gateway-trace-id') ?? null;
  const status = response?.status ?? 0;
  if (isErrorResponse(error)) return new ApiError(status, error.error, traceId);
  const message = status === 0 ? 'The gateway does not answer.' : `The gateway answered with status ${status}.`;
  const code = status === 0 ? 'unreachable' : `http_${status}`;
  const body = { message, type: code, code, param: null, source: 'gateway' } as const;
  return new ApiError(status, body, traceId);
}

export function isErrorResponse(value: unknown): value is ErrorResponse {
  return (
    typeof value === 'object' &&
    value !== null &&
    'error' in value &&
    typeof value.error === 'object' &&
    value.error !== null
  );
}

/** For changes that the generated client does not make. */
export function csrfHeaders(): Readonly<Record<string, string>> {
  return csrfToken === undefined ? {} : { [CSRF_HEADER]: csrfToken };
}

export interface LoggedIn {
  readonly sessionId: string;
  /** Everywhere that a person who logged in may go; empty for keys. */
  readonly places: readonly SessionPlace[];
  readonly caller: Caller;
  readonly may: (scope: Scope) => boolean;
}

/** Tabs name their session here, or null after a log-out. */
const LOGINS = new BroadcastChannel('tollgate-login');

/** The caller of this browser; null when it is not logged in. */
export const loginQuery = queryOptions({
  queryKey: [LOGIN],
  queryFn: async ({ client: queries, queryKey, signal }): Promise<LoggedIn | null> => {
    try {
      const [{ data: session }, { data: caller }] = await Promise.all([
        retrieveCurrentSession({ signal, throwOnError: true }),
        retrieveCaller({ signal, throwOnError: true }),
      ]);
      // A newer look may have seen another session.
      signal.throwIfAborted();
      csrfToken = session.csrf_token;
      hasEnded = false;
      // Another log-in of this browser, perhaps in another tab: what the last one saw is not for it.
      if (queries.getQueryData<LoggedIn | null>(queryKey)?.sessionId !== session.id) forgetData(queries);
      LOGINS.postMessage(session.id);
      const scopes = new Set<string>(caller.scopes);
      return { sessionId: session.id, caller, places: session.places, may: (scope) => scopes.has(scope) };
    } catch (error) {
      if (!signal.aborted && error instanceof ApiError && error.status === 401) {
        csrfToken = undefined;
        if (queries.getQueryData<LoggedIn | null>(queryKey)) {
          hasEnded = true;
          LOGINS.postMessage(null);
          // Without a login before, all that is there is what the log-in page shows.
          forgetData(queries);
        }
        return null;
      }
      throw error;
    }
  },
  staleTime: 60_000,
  refetchOnWindowFocus: 'always',
});

/** Reads the login again when another tab has another one. */
export function followOtherTabs(queries: QueryClient): void {
  LOGINS.addEventListener('message', ({ data: sessionId }: MessageEvent<unknown>) => {
    const own = queries.getQueryData(loginQuery.queryKey)?.sessionId;
    if (own !== sessionId) void queries.invalidateQueries({ queryKey: loginQuery.queryKey });
  });
}

/** For the log-in page: whether a session ended under the page, which is why it is shown. */
export function hasSessionEnded(): boolean {
  return hasEnded;
}

/**
 * A request was refused for want of a valid key. Whether the session has ended, only the gateway knows: the key may have been
 * another one, such as one among the headers of a preview.
 */
export function checkLogin(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: loginQuery.queryKey }, { cancelRefetch: false });
}

/** Browsers refuse a header with any other character, in words of their own. */
const HEADER_TEXT = /^[ -~]*$/;

/** The key is sent once and kept nowhere. */
export async function logIn(apiKey: string): Promise<void> {
  if (!HEADER_TEXT.test(apiKey)) throw new Error('The API key has a character that no key has.');
  await createSession({ headers: { 'x-gateway-api-key': apiKey }, body: {}, throwOnError: true });
}

/** Where a log-in at the identity provider begins. @param place to go to; absent: the first one */
export function addressOfLogin(page: string, place?: SessionPlace): string {
  const query = new URLSearchParams({ return_to: page });
  if (place !== undefined) query.set('organisation', place.organisation);
  if (place !== undefined && place.workspace !== null) query.set('workspace', place.workspace);
  return `/v1/login/oidc?${query}`;
}

export async function logOut(): Promise<void> {
  await endCurrentSession({ throwOnError: true });
}

/** Shows the log-in page, and keeps nothing of this login in memory. */
export function forgetLogin(queries: QueryClient): void {
  csrfToken = undefined;
  hasEnded = false;
  forgetData(queries);
  queries.setQueryData(loginQuery.queryKey, null);
  LOGINS.postMessage(null);
}

function forgetData(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== LOGIN });
}
