import { useMutation, useQuery } from '@tanstack/react-query';
import { version } from '../../../package.json';
import { useState } from 'react';
import { listSessionsOptions } from '../api/@tanstack/react-query.gen';
import { endSession } from '../api/sdk.gen';
import { Page } from '../components/page';
import { Tabs } from '../components/tabs';
import { ErrorNote, Loading } from '../components/states';
import { Badge } from '../components/ui/badge';
import { Button, buttonLook, SendButton } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { When } from '../components/when';
import { counted, dateTime } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { addressOfLogin } from '../lib/session';
import { browserInWords } from '../lib/user-agent';
import { Members } from './members';
import { Webhooks } from './webhooks';
import { Workspaces } from './workspaces';

export function SettingsPage() {
  const { may } = useLogin();
  const list = useListSearch();
  const views = {
    you: 'You',
    ...(may('workspaces.list') && { workspaces: 'Workspaces' }),
    ...(may('api_keys.list') && { members: 'Members' }),
    ...(may('webhooks.list') && { webhooks: 'Webhooks' }),
  };
  const view = list.view !== undefined && list.view in views ? list.view : 'you';
  return (
    <Page title="Settings">
      <Tabs label="Parts of the settings" views={views} view={view} />
      {view === 'you' && <You />}
      {view === 'workspaces' && <Workspaces />}
      {view === 'members' && <Members />}
      {view === 'webhooks' && <Webhooks />}
    </Page>
  );
}

function You() {
  const { caller, places } = useLogin();
  return (
    <>
      <Card title="You">
        <dl className="grid gap-x-3 gap-y-0.5 p-4 sm:grid-cols-[10rem_1fr] sm:gap-y-3 [&>dd]:mb-2 sm:[&>dd]:mb-0">
          <dt className="text-muted">{caller.type === 'api_key' ? 'API key' : 'Person'}</dt>
          <dd>{caller.name ?? caller.id}</dd>
          <dt className="text-muted">Organisation</dt>
          <dd>{caller.organisation?.name ?? '–'}</dd>
          <dt className="text-muted">Workspaces</dt>
          <dd>{caller.workspaces.map(({ name }) => name).join(', ') || '–'}</dd>
          <dt className="text-muted">Scopes</dt>
          <dd>
            <details>
              <summary className="cursor-pointer">{counted(caller.scopes.length, 'scope')}</summary>
              <p className="mt-1 font-mono text-xs wrap-anywhere">{caller.scopes.join(', ')}</p>
            </details>
          </dd>
        </dl>
      </Card>
      {places.length > 1 && (
        <Card title="Where you may work">
          <ul className="divide-y divide-line">
            {places.map((place) => (
              <li
                key={`${place.organisation}/${place.workspace ?? ''}/${place.role}`}
                className="flex items-center justify-between gap-4 px-4 py-3"
              >
                <p className="min-w-0 wrap-anywhere">
                  {place.organisation}
                  {place.workspace !== null && ` / ${place.workspace}`}{' '}
                  <span className="text-muted">as {place.role}</span>
                </p>
                <a
                  href={addressOfLogin('/console', place)}
                  className={buttonLook({ size: 'small' })}
                  aria-label={`Work here: ${[place.organisation, place.workspace].filter(Boolean).join(' / ')} as ${place.role}`}
                >
                  Work here
                </a>
              </li>
            ))}
          </ul>
        </Card>
      )}
      <Sessions />
      <About />
    </>
  );
}

/** A key that many people share has many. */
const SHOWN_SESSIONS = 8;

function Sessions() {
  const options = listSessionsOptions();
  const [isWhole, setWhole] = useState(false);
  const sessions = useQuery(options);
  const all = (sessions.data?.data ?? []).toSorted((one, other) => Number(other.is_current) - Number(one.is_current));
  const end = useMutation({
    meta: { done: 'The session has ended.' },
    mutationFn: (id: string) => endSession({ path: { session_id: id }, throwOnError: true }),
  });
  return (
    <Card title="Browsers that you are logged in with">
      {sessions.isPending && <Loading />}
      {sessions.isLoadingError && <ErrorNote error={sessions.error} />}
      {end.isError && <ErrorNote error={end.error} />}
      <ul className="divide-y divide-line">
        {(isWhole ? all : all.slice(0, SHOWN_SESSIONS)).map((session) => (
          <li key={session.id} className="flex items-center justify-between gap-4 px-4 py-3">
            <div className="min-w-0">
              <p className="wrap-anywhere" title={session.user_agent ?? undefined}>
                {browserInWords(session.user_agent)}
              </p>
              <p className="text-xs text-muted">
                {session.client_address ?? 'unknown address'} · logged in <When at={session.created_at} /> · ends{' '}
                <When at={session.expires_at} />
              </p>
            </div>
            {session.is_current ? (
              <Badge tone="good">this one</Badge>
            ) : (
              <SendButton
                size="small"
                sent={end}
                aria-label={`End the session of ${browserInWords(session.user_agent)}, logged in ${dateTime(session.created_at)}`}
                onSend={() => end.mutate(session.id)}
              >
                End
              </SendButton>
            )}
          </li>
        ))}
      </ul>
      {all.length > SHOWN_SESSIONS && (
        <p className="border-t border-line px-4 py-2 text-right">
          <Button size="small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : `Show all ${all.length}`}
          </Button>
        </p>
      )}
    </Card>
  );
}

function About() {
  return (
    <Card title="About">
      <p className="px-4 pt-4">Tollgate {version}</p>
      <p className="p-4">
        Everything on these pages comes from the API of this gateway, which is described at{' '}
        <a href="/docs" className="text-accent underline">
          /docs
        </a>
        . Its OpenAPI document is at{' '}
        <a href="/docs/openapi.json" className="text-accent underline">
          /docs/openapi.json
        </a>
        .
      </p>
    </Card>
  );
}
