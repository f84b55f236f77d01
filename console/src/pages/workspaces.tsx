import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { listWorkspacesOptions } from '../api/@tanstack/react-query.gen';
import { createWorkspace } from '../api/sdk.gen';
import type { Workspace } from '../api/types.gen';
import { ErrorNote } from '../components/states';
import { type Column, PAGE_SIZE, Table } from '../components/table';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Input } from '../components/ui/field';
import { dateTime, fromNow } from '../lib/format';
import { useLogin } from '../lib/login-context';
import { ChangeWorkspace, DeleteWorkspace } from './workspace-acts';

type Act = { readonly kind: 'change' | 'delete'; readonly workspace: Workspace };

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
      title: 'Made',
      kind: 'short',
      cell: ({ created_at }) => <span title={dateTime(created_at)}>{fromNow(created_at)}</span>,
    },
    {
      title: 'Actions',
      kind: 'short',
      cell: (workspace) => (
        <div className="flex flex-wrap gap-1 md:flex-nowrap">
          {mayChange && (
            <Button
              size="small"
              aria-label={`Change ${workspace.name}`}
              onClick={() => onAct({ kind: 'change', workspace })}
            >
              Change
            </Button>
          )}
          {mayDelete && (
            <Button
              size="small"
              aria-label={`Delete ${workspace.name}`}
              onClick={() => onAct({ kind: 'delete', workspace })}
            >
              Delete
            </Button>
          )}
        </div>
      ),
    },
  ];
}

export function Workspaces() {
  const { may, caller } = useLogin();
  const [page, setPage] = useState(0);
  const [act, setAct] = useState<Act>();
  const workspaces = useQuery({
    ...listWorkspacesOptions({ query: { current_page: page, page_size: PAGE_SIZE } }),
    placeholderData: (previous) => previous,
  });
  return (
    <Card title="Workspaces">
      <Table
        caption="Workspaces"
        columns={columns({
          mayChange: may('workspaces.update'),
          mayDelete: may('workspaces.delete') && caller.workspace_id === null,
          onAct: setAct,
        })}
        query={workspaces}
        keyOf={({ id }) => id}
        empty="No workspace."
        page={page}
        onPage={setPage}
        csv={{ path: '/v1/workspaces' }}
      />
      {may('workspaces.create') && caller.workspace_id === null && <NewWorkspace />}
      {act?.kind === 'change' && <ChangeWorkspace workspace={act.workspace} onClose={() => setAct(undefined)} />}
      {act?.kind === 'delete' && <DeleteWorkspace workspace={act.workspace} onClose={() => setAct(undefined)} />}
    </Card>
  );
}

function NewWorkspace() {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const created = useMutation({
    mutationFn: () => createWorkspace({ body: { name: name.trim() }, throwOnError: true }),
    onSuccess: async () => {
      setName('');
      await queries.invalidateQueries();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    created.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap gap-2 border-t border-line p-4">
      <Input
        aria-label="Name of the new workspace"
        placeholder="Name"
        className="w-56"
        required
        maxLength={255}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <Button type="submit" disabled={created.isPending}>
        Add workspace
      </Button>
      {created.isError && <ErrorNote error={created.error} />}
    </form>
  );
}
