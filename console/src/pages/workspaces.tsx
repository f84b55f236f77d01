import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { listWorkspacesOptions } from '../api/@tanstack/react-query.gen';
import type { Workspace } from '../api/types.gen';
import { RowActions } from '../components/row-actions';
import { SearchBox } from '../components/page';
import { type Column, Table } from '../components/table';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { When } from '../components/when';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { DeleteWorkspace } from './delete-workspace';
import { WorkspaceForm } from './workspace-form';

type Act = { readonly kind: 'create' } | { readonly kind: 'change' | 'delete'; readonly workspace: Workspace };

export function Workspaces() {
  const { may, caller } = useLogin();
  const list = useListSearch();
  const [act, setAct] = useState<Act>();
  const workspaces = useQuery({
    ...listWorkspacesOptions({ query: list.paging }),
    placeholderData: (previous) => previous,
  });
  const close = (): void => setAct(undefined);
  return (
    <>
      <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
      <Card
        title="Workspaces"
        side={
          may('workspaces.create') &&
          caller.workspace_id === null && (
            <Button size="small" onClick={() => setAct({ kind: 'create' })}>
              <Plus aria-hidden className="size-3.5" />
              New workspace
            </Button>
          )
        }
      >
        <Table
          caption="Workspaces"
          columns={columns({
            mayChange: may('workspaces.update'),
            mayDelete: may('workspaces.delete') && caller.workspace_id === null,
            onAct: setAct,
          })}
          query={workspaces}
          keyOf={({ id }) => id}
          empty="No workspace here."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/workspaces', query: { search: list.search } }}
        />
        {act?.kind === 'create' && <WorkspaceForm onClose={close} />}
        {act?.kind === 'change' && <WorkspaceForm workspace={act.workspace} onClose={close} />}
        {act?.kind === 'delete' && <DeleteWorkspace workspace={act.workspace} onClose={close} />}
      </Card>
    </>
  );
}

interface Rights {
  readonly mayChange: boolean;
  readonly mayDelete: boolean;
  readonly onAct: (act: Act) => void;
}

function columns({ mayChange, mayDelete, onAct }: Rights): readonly Column<Workspace>[] {
  return [
    {
      title: 'Workspace',
      cell: ({ name, slug }) => (
        <>
          <span className="font-medium wrap-anywhere">{name}</span>
          <p className="font-mono text-xs wrap-anywhere text-muted">{slug}</p>
        </>
      ),
    },
    {
      title: 'Description',
      isExtra: true,
      cell: ({ description }) => <span className="wrap-anywhere">{description ?? '–'}</span>,
    },
    {
      title: 'Default metadata',
      isExtra: 'wide',
      cell: ({ defaults }) => {
        const pairs = Object.entries(defaults.metadata ?? {});
        if (pairs.length === 0) return <span className="text-muted">none</span>;
        return (
          <span className="font-mono text-xs wrap-anywhere">
            {pairs.map(([name, value]) => `${name}=${value}`).join(', ')}
          </span>
        );
      },
    },
    {
      title: 'Made',
      kind: 'short',
      cell: ({ created_at }) => <When at={created_at} />,
    },
    {
      title: 'Actions',
      kind: 'short',
      cell: (workspace) => (
        <RowActions
          of={workspace.name}
          actions={{
            Change: mayChange ? () => onAct({ kind: 'change', workspace }) : undefined,
            Delete: mayDelete ? () => onAct({ kind: 'delete', workspace }) : undefined,
          }}
        />
      ),
    },
  ];
}
