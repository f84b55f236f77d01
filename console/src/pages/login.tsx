import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent } from 'react';
import { retrieveLoginOptionsOptions } from '../api/@tanstack/react-query.gen';
import { Loading } from '../components/states';
import { Button, buttonLook } from '../components/ui/button';
import { Field, Input } from '../components/ui/field';
import { useOnce } from '../lib/once';
import { addressOfLogin, hasSessionEnded, logIn, loginQuery } from '../lib/session';

/** Where the gateway puts why a log-in at the identity provider failed. */
const FAILURE = 'login_error';
const FAILURES: Readonly<Record<string, string>> = {
  expired: 'The log-in took too long, or began in another browser. Try again.',
  refused: 'The identity provider refused the log-in. Try again, or ask who runs the gateway to look at its log.',
  no_role: 'None of your groups may use this gateway. Ask its owner for a role.',
  unavailable: 'The identity provider does not answer. Try again later, or log in with an API key.',
};

const ENDED = 'Your session has ended. Log in again.';

export function LoginPage() {
  const [apiKey, setApiKey] = useState('');
  const [{ failure, page }] = useState(whereFrom);
  const options = useQuery(retrieveLoginOptionsOptions());
  const queries = useQueryClient();
  useEffect(() => {
    document.title = 'Log in · Tollgate';
    // Said once: it is not why a later log-in is needed.
    if (window.location.search.includes(FAILURE)) window.history.replaceState(null, '', page);
  }, []);
  const login = useMutation({
    mutationKey: ['login'],
    mutationFn: async () => {
      await logIn(apiKey.trim());
      await queries.invalidateQueries({ queryKey: loginQuery.queryKey }, { throwOnError: true });
    },
    onSuccess: () => setApiKey(''),
  });
  const once = useOnce(login);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void once(() => login.mutate());
  };
  // What comes later would move the button from under a click.
  if (options.isPending) return <Loading />;
  return (
    <main className="grid min-h-screen place-items-center p-4">
      <form onSubmit={submit} className="w-full max-w-md space-y-4 rounded-lg border border-line bg-surface p-6">
        <div className="flex items-center gap-3">
          <img src="/console/favicon.svg" alt="" className="size-8" />
          <h1 className="text-xl font-semibold">Log in to Tollgate</h1>
        </div>
        {failure !== undefined && (
          <p role="alert" className="rounded-md border border-bad p-3 text-bad">
            {failure}
          </p>
        )}
        {login.isError && (
          <p role="alert" className="sr-only">
            {login.error.message}
          </p>
        )}
        {options.data?.oidc === true && (
          <>
            <a href={addressOfLogin(page)} className={buttonLook({ kind: 'main', className: 'w-full' })}>
              Log in with your organisation
            </a>
            <p className="text-center text-xs text-muted">or with an API key</p>
          </>
        )}
        <Field
          label="API key"
          error={login.isError ? login.error.message : undefined}
          hint="The admin key stands in the output of the gateway's first start. The browser does not keep it."
        >
          {(tie) => (
            <Input
              {...tie}
              type="password"
              autoComplete="off"
              autoFocus
              required
              spellCheck={false}
              placeholder="tg_…"
              value={apiKey}
              onChange={({ target }) => setApiKey(target.value)}
            />
          )}
        </Field>
        <Button
          kind={options.data?.oidc === true ? 'plain' : 'main'}
          type="submit"
          className="w-full"
          disabled={login.isPending}
        >
          Log in
        </Button>
      </form>
    </main>
  );
}

/** Why the page is shown, where that is not plain, and the page to show after the next one. */
function whereFrom(): { readonly failure: string | undefined; readonly page: string } {
  const { pathname, search } = window.location;
  const failure = new URLSearchParams(search).get(FAILURE);
  if (failure === null) return { failure: hasSessionEnded() ? ENDED : undefined, page: pathname + search };
  const rest = search
    .slice(1)
    .split('&')
    .filter((part) => !part.startsWith(`${FAILURE}=`));
  const page = rest.length === 0 ? pathname : `${pathname}?${rest.join('&')}`;
  return { failure: FAILURES[failure] ?? FAILURES['refused'], page };
}
