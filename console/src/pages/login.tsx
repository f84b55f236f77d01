import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent } from 'react';
import { Button } from '../components/ui/button';
import { Field, Input } from '../components/ui/field';
import { logIn, loginQuery } from '../lib/session';

export function LoginPage() {
  const [apiKey, setApiKey] = useState('');
  const queries = useQueryClient();
  useEffect(() => {
    document.title = 'Log in · Tollgate';
  }, []);
  const login = useMutation({
    mutationKey: ['login'],
    mutationFn: () => logIn(apiKey.trim()),
    onSuccess: async () => {
      setApiKey('');
      await queries.invalidateQueries({ queryKey: loginQuery.queryKey });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    login.mutate();
  };
  return (
    <main className="grid min-h-screen place-items-center p-4">
      <form onSubmit={submit} className="w-full max-w-md space-y-4 rounded-lg border border-line bg-surface p-6">
        <div className="flex items-center gap-3">
          <img src="/console/favicon.svg" alt="" className="size-8" />
          <h1 className="text-xl font-semibold">Log in to Tollgate</h1>
        </div>
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
        <Button kind="main" type="submit" className="w-full" disabled={login.isPending}>
          Log in
        </Button>
      </form>
    </main>
  );
}
