import { useMutation, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { listApiKeysOptions } from '../api/@tanstack/react-query.gen';
import { deleteApiKey, rotateApiKey } from '../api/sdk.gen';
import type { ApiKey, Caller } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { Choose, ListTools } from '../components/list-tools';
import { Page } from '../components/page';
import { RowActions } from '../components/row-actions';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Dialog } from '../components/ui/dialog';
import { Field, Select } from '../components/ui/field';
import { Countdown, When } from '../components/when';
import { WorkspaceChoice } from '../components/workspace-choice';
import { dateTime, fromNow } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { useNames } from '../lib/names';
import { scopesInWords } from '../lib/scope-words';
import { KeySnippets } from './key-snippets';
import { NewKey } from './new-key';

type Act = { readonly kind: 'rotate' | 'delete'; readonly apiKey: ApiKey };

const CHOICES = { '': 'All keys', active: 'Active', expired: 'Expired' };
const TYPES = { '': 'Of any type', service: 'Of services', user: 'Of users' };

export function KeysPage() {
  const { may, caller } = useLogin();
  const list = useListSearch();
  const [isCreating, setCreating] = useState(false);
  const [act, setAct] = useState<Act>();
  const status: 'active' | 'expired' | undefined =
    list.status === 'active' || list.status === 'expired' ? list.status : undefined;
  const type: 'service' | 'user' | undefined = list.kind === 'service' || list.kind === 'user' ? list.kind : undefined;
  const filters = {
    ...(status && { status }),
    ...(type && { type }),
    ...(list.workspace !== undefined && { workspace_id: list.workspace }),
  };
  const keys = useQuery({
    ...listApiKeysOptions({ query: { ...list.paging, ...filters } }),
    placeholderData: (previous) => previous,
  });
  const nameIds = useNames((keys.data?.data ?? []).flatMap(({ workspace_id: id }) => id ?? []));
  return (
    <Page
      title="API keys"
      intro="Keys of applications, agents and users. A key is shown once, when it is made."
      actions={
        may('api_keys.create') && (
          <Button kind="main" onClick={() => setCreating(true)}>
            <Plus aria-hidden className="size-4" />
            New key
          </Button>
        )
      }
    >
      <ListTools list={list} label="State" value={status ?? ''} options={CHOICES}>
        <Choose label="Type" value={type ?? ''} options={TYPES} onChoose={list.onKind} />
        <WorkspaceChoice list={list} />
      </ListTools>
      <Card>
        <Table
          caption="API keys"
          columns={columns({
            mayRotate: may('api_keys.update'),
            mayDelete: may('api_keys.delete'),
            onAct: setAct,
            caller,
            nameIds,
          })}
          query={keys}
          keyOf={({ id }) => id}
          empty="No key here."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/api-keys', query: { search: list.search, ...filters } }}
        />
      </Card>
      {isCreating && <NewKey onClose={() => setCreating(false)} />}
      {act?.kind === 'rotate' && <Rotate apiKey={act.apiKey} onClose={() => setAct(undefined)} />}
      {act?.kind === 'delete' && <Delete apiKey={act.apiKey} onClose={() => setAct(undefined)} />}
    </Page>
  );
}

interface Shown {
  readonly mayRotate: boolean;
  readonly mayDelete: boolean;
  readonly onAct: (act: Act) => void;
  readonly caller: Caller;
  readonly nameIds: (text: string) => string;
}

function columns({ mayRotate, mayDelete, onAct, caller, nameIds }: Shown): readonly Column<ApiKey>[] {
  return [
    {
      title: 'Key',
      cell: (key) => (
        <>
          <span className="font-medium wrap-anywhere">{key.name}</span>
          <p className="font-mono text-xs text-muted">{key.prefix}…</p>
        </>
      ),
    },
    {
      title: 'For',
      cell: ({ user, level, workspace_id: id }) =>
        user?.user_id ?? (level === 'workspace' && id !== null ? nameIds(id) : 'organisation'),
    },
    {
      title: 'May',
      isExtra: 'wide',
      cell: ({ scopes }) => <span title={scopes.join(', ')}>{scopesInWords(scopes, caller.scopes)}</span>,
    },
    {
      title: 'Last used',
      kind: 'short',
      cell: ({ last_used_at }) => <When at={last_used_at} />,
    },
    {
      title: 'Ends',
      kind: 'short',
      isExtra: true,
      cell: ({ expires_at }) => <When at={expires_at} />,
    },
    {
      title: 'State',
      cell: ({ status }) =>
        status === 'active' ? <Badge tone="good">active</Badge> : <Badge tone="warn">expired</Badge>,
    },
    {
      title: 'Actions',
      cell: (apiKey) => (
        <RowActions
          of={apiKey.name}
          actions={{
            Rotate: mayRotate ? () => onAct({ kind: 'rotate', apiKey }) : undefined,
            Delete: mayDelete ? () => onAct({ kind: 'delete', apiKey }) : undefined,
          }}
        />
      ),
    },
  ];
}

/** When the old secret ends: seconds after the rotation, and in words. */
const TRANSITIONS = { '1800': 'in 30 minutes', '86400': 'in a day', '604800': 'in 7 days', '0': 'at once' };

function Rotate({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const [transition, setTransition] = useState('1800');
  const rotated = useMutation({
    mutationFn: async () => {
      const body = { transition_seconds: Number(transition) };
      return (await rotateApiKey({ path: { id: apiKey.id }, body, throwOnError: true })).data;
    },
  });
  if (rotated.isSuccess) {
    return (
      <Dialog title={`New secret of ${apiKey.name}`} onClose={onClose}>
        {transition === '0' ? (
          <p>The old secret has ended. Programs that still use it are refused within ten seconds.</p>
        ) : (
          <p>
            The old secret ends in <Countdown until={rotated.data.previous_valid_until} />, at{' '}
            {dateTime(rotated.data.previous_valid_until)}.
          </p>
        )}
        <KeySnippets apiKey={rotated.data.key} scopes={apiKey.scopes} />
      </Dialog>
    );
  }
  return (
    <Confirm
      title={`Rotate ${apiKey.name}`}
      action="Rotate"
      onConfirm={() => rotated.mutateAsync()}
      onClose={onClose}
      onDone={() => undefined}
    >
      <p>The key gets a new secret. Programs that still use the old one are refused once it ends.</p>
      <Field label="The old secret ends">
        {(tie) => (
          <Select {...tie} value={transition} onChange={({ target }) => setTransition(target.value)}>
            {Object.entries(TRANSITIONS).map(([seconds, words]) => (
              <option key={seconds} value={seconds}>
                {words}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </Confirm>
  );
}

function Delete({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const remove = async (): Promise<void> => {
    await deleteApiKey({ path: { id: apiKey.id }, throwOnError: true });
  };
  return (
    <Confirm title={`Delete ${apiKey.name}`} action="Delete" onConfirm={remove} onClose={onClose}>
      <p>
        Programs with this key are refused within ten seconds. It was{' '}
        {apiKey.last_used_at === null ? 'never used' : `last used ${fromNow(apiKey.last_used_at)}`}.
      </p>
    </Confirm>
  );
}
