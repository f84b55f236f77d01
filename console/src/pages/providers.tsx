import { useMutation, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { listVirtualKeysOptions } from '../api/@tanstack/react-query.gen';
import { deleteVirtualKey, testVirtualKey } from '../api/sdk.gen';
import type { ModelRoute, VirtualKey } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { ListTools } from '../components/list-tools';
import { Page } from '../components/page';
import { ProviderChoice } from '../components/provider-choice';
import { RowActions } from '../components/row-actions';
import { type Column, Table } from '../components/table';
import { reasonOf, TestResult } from '../components/test-result';
import { Badge } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { When } from '../components/when';
import { WorkspaceChoice } from '../components/workspace-choice';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { isProvider, providerName } from '../lib/providers';
import { useApiKeys, useModelRoutes } from '../lib/whole';
import { SecretReferences } from './secret-references';
import { VirtualKeyForm } from './virtual-key-form';

type Act = { readonly kind: 'create' } | { readonly kind: 'change' | 'delete'; readonly virtualKey: VirtualKey };

const CHOICES = { '': 'In any state', active: 'Active', expired: 'Expired' };

export function ProvidersPage() {
  const { may } = useLogin();
  const list = useListSearch();
  const [act, setAct] = useState<Act>();
  const close = (): void => setAct(undefined);
  const status: 'active' | 'expired' | undefined =
    list.status === 'active' || list.status === 'expired' ? list.status : undefined;
  const filters = {
    ...(isProvider(list.provider) && { provider: list.provider }),
    ...(status && { status }),
    ...(list.workspace !== undefined && { workspace_id: list.workspace }),
  };
  const virtualKeys = useQuery({
    ...listVirtualKeysOptions({ query: { ...list.paging, ...filters } }),
    placeholderData: (previous) => previous,
  });
  return (
    <Page
      title="Providers"
      intro="A virtual key is a provider, a credential and options under a name that calls use."
      actions={
        may('virtual_keys.create') && (
          <Button kind="main" onClick={() => setAct({ kind: 'create' })}>
            <Plus aria-hidden className="size-4" />
            New virtual key
          </Button>
        )
      }
    >
      <ListTools list={list} label="State" value={status ?? ''} options={CHOICES}>
        <ProviderChoice list={list} />
        <WorkspaceChoice list={list} />
      </ListTools>
      <Card title="Virtual keys">
        <Table
          caption="Virtual keys"
          columns={columns({
            mayTest: may('virtual_keys.read'),
            mayChange: may('virtual_keys.update'),
            mayDelete: may('virtual_keys.delete'),
            onAct: setAct,
          })}
          query={virtualKeys}
          keyOf={({ id }) => id}
          empty="No virtual key here. Calls reach a provider through one."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/virtual-keys', query: { search: list.search, ...filters } }}
        />
      </Card>
      {may('secret_references.list') && <SecretReferences search={list.search} />}
      {act?.kind === 'create' && <VirtualKeyForm onClose={close} />}
      {act?.kind === 'change' && <VirtualKeyForm virtualKey={act.virtualKey} onClose={close} />}
      {act?.kind === 'delete' && <Delete virtualKey={act.virtualKey} onClose={close} />}
    </Page>
  );
}

interface Rights {
  readonly mayTest: boolean;
  readonly mayChange: boolean;
  readonly mayDelete: boolean;
  readonly onAct: (act: Act) => void;
}

function columns({ mayTest, mayChange, mayDelete, onAct }: Rights): readonly Column<VirtualKey>[] {
  return [
    {
      title: 'Virtual key',
      cell: ({ name, slug }) => (
        <>
          <span className="font-medium wrap-anywhere">{name}</span>
          <p className="font-mono text-xs text-muted">@{slug}</p>
        </>
      ),
    },
    { title: 'Provider', kind: 'short', cell: ({ provider }) => providerName(provider) },
    {
      title: 'Credential',
      isExtra: true,
      cell: ({ key, secret_mappings }) =>
        secret_mappings.length > 0 ? 'secret reference' : <span className="font-mono text-xs">{key ?? 'none'}</span>,
    },
    {
      title: 'State',
      cell: ({ status, expires_at }) =>
        status === 'active' ? (
          <Badge tone="good">active</Badge>
        ) : (
          <Badge tone="bad">
            expired <When at={expires_at} />
          </Badge>
        ),
    },
    { title: 'Test', cell: (virtualKey) => (mayTest ? <TestKey virtualKey={virtualKey} /> : null) },
    {
      title: 'Actions',
      kind: 'short',
      cell: (virtualKey) => (
        <RowActions
          of={virtualKey.name}
          actions={{
            Change: mayChange ? () => onAct({ kind: 'change', virtualKey }) : undefined,
            Delete: mayDelete ? () => onAct({ kind: 'delete', virtualKey }) : undefined,
          }}
        />
      ),
    },
  ];
}

function TestKey({ virtualKey: { slug, id, name } }: { readonly virtualKey: VirtualKey }) {
  const test = useMutation({
    mutationFn: async () => (await testVirtualKey({ path: { ref: id }, body: {}, throwOnError: true })).data,
  });
  return (
    <TestResult
      label={`Test ${name || slug}`}
      sent={test}
      onTest={() => test.mutate()}
      result={test.data}
      problem={test.error?.message ?? reasonOf(test.data)}
    />
  );
}

function Delete({ virtualKey, onClose }: { readonly virtualKey: VirtualKey; readonly onClose: () => void }) {
  const all = useModelRoutes();
  const leadsHere = ({ targets }: ModelRoute): boolean =>
    targets.some(({ virtual_key: slug }) => slug === virtualKey.slug);
  const routes = all.data?.filter(leadsHere).map(({ name }) => name) ?? [];
  const keys = useApiKeys();
  const bound = (keys.data ?? []).filter(({ allowed_virtual_keys: allowed }) => allowed?.includes(virtualKey.id));
  const defaults = (keys.data ?? []).filter(({ default_virtual_key: id }) => id === virtualKey.id);
  const remove = async (): Promise<void> => {
    await deleteVirtualKey({ path: { ref: virtualKey.id }, throwOnError: true });
  };
  return (
    <Confirm
      title={`Delete ${virtualKey.name}`}
      action="Delete"
      isBlocked={defaults.length > 0 || all.isLoading || keys.isLoading}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        Calls that name @{virtualKey.slug} are refused, and model routes go past it
        {routes.length > 0 && <>: {routes.join(', ')}</>}. The credential is removed from the gateway; at the provider
        it stays valid.
      </p>
      {bound.length > 0 && (
        <p className="wrap-anywhere">Keys that are bound to it: {bound.map(({ name }) => name).join(', ')}.</p>
      )}
      {defaults.length > 0 && (
        <p className="wrap-anywhere">
          It cannot be deleted while it is the default of {defaults.map(({ name }) => name).join(', ')}.
        </p>
      )}
    </Confirm>
  );
}
