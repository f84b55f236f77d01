import { useMutation, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { listSecretReferencesOptions } from '../api/@tanstack/react-query.gen';
import { deleteSecretReference, testSecretReference } from '../api/sdk.gen';
import type { SecretReference } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { RowActions } from '../components/row-actions';
import { type Column, Table } from '../components/table';
import { reasonOf, TestResult } from '../components/test-result';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { When } from '../components/when';
import { PAGE_SIZE } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { managerOf } from '../lib/secret-managers';
import { useMcpServers, useVirtualKeys } from '../lib/whole';
import { SecretReferenceForm } from './secret-reference-form';

type Act = { readonly kind: 'create' } | { readonly kind: 'change' | 'delete'; readonly reference: SecretReference };

interface SecretReferencesProps {
  /** What the search of the page looks for. */
  readonly search: string | undefined;
}

/** Secrets that stay in their manager. */
export function SecretReferences({ search }: SecretReferencesProps) {
  const { may } = useLogin();
  // Another search begins at the first page.
  const [shown, setShown] = useState({ search, page: 0 });
  const page = shown.search === search ? shown.page : 0;
  const [act, setAct] = useState<Act>();
  const references = useQuery({
    ...listSecretReferencesOptions({
      query: { current_page: page, page_size: PAGE_SIZE, ...(search !== undefined && { search }) },
    }),
    placeholderData: (previous) => previous,
  });
  const close = (): void => setAct(undefined);
  return (
    <Card
      title="Secret references"
      side={
        may('secret_references.create') && (
          <Button size="small" onClick={() => setAct({ kind: 'create' })}>
            <Plus aria-hidden className="size-3.5" />
            New reference
          </Button>
        )
      }
    >
      <Table
        caption="Secret references"
        columns={columns({
          mayTest: may('secret_references.read'),
          mayChange: may('secret_references.update'),
          mayDelete: may('secret_references.delete'),
          onAct: setAct,
        })}
        query={references}
        keyOf={({ id }) => id}
        empty="No secret reference here. Credentials can stay in AWS Secrets Manager, Azure Key Vault or Vault."
        page={page}
        onPage={(next) => setShown({ search, page: next })}
        csv={{ path: '/v1/secret-references', query: { search } }}
      />
      {act?.kind === 'create' && <SecretReferenceForm onClose={close} />}
      {act?.kind === 'change' && <SecretReferenceForm reference={act.reference} onClose={close} />}
      {act?.kind === 'delete' && <Delete reference={act.reference} onClose={close} />}
    </Card>
  );
}

interface Rights {
  readonly mayTest: boolean;
  readonly mayChange: boolean;
  readonly mayDelete: boolean;
  readonly onAct: (act: Act) => void;
}

function columns({ mayTest, mayChange, mayDelete, onAct }: Rights): readonly Column<SecretReference>[] {
  return [
    {
      title: 'Reference',
      cell: ({ name, slug }) => (
        <>
          <span className="font-medium wrap-anywhere">{name}</span>
          <p className="font-mono text-xs wrap-anywhere text-muted">{slug}</p>
        </>
      ),
    },
    { title: 'Manager', kind: 'short', isExtra: 'wide', cell: ({ manager_type }) => managerOf(manager_type).title },
    {
      title: 'Secret',
      isExtra: 'wide',
      cell: ({ secret_path }) => <span className="font-mono text-xs wrap-anywhere">{secret_path}</span>,
    },
    {
      title: 'Last read',
      cell: ({ last_resolved_at, last_error }) =>
        last_error === null ? <When at={last_resolved_at} /> : <span className="text-bad">{last_error}</span>,
    },
    { title: 'Used by', kind: 'name', isExtra: true, cell: ({ id }) => <UsedBy referenceId={id} /> },
    { title: 'Test', cell: (reference) => (mayTest ? <TestReference reference={reference} /> : null) },
    ...(mayChange || mayDelete
      ? [
          {
            title: 'Actions',
            kind: 'short' as const,
            cell: (reference: SecretReference) => (
              <RowActions
                of={reference.name}
                actions={{
                  Change: mayChange ? () => onAct({ kind: 'change', reference }) : undefined,
                  Delete: mayDelete ? () => onAct({ kind: 'delete', reference }) : undefined,
                }}
              />
            ),
          },
        ]
      : []),
  ];
}

/** The virtual keys and MCP servers that map a field to a reference. */
function useUsersOf(referenceId: string): readonly string[] {
  const keys = useVirtualKeys();
  const servers = useMcpServers();
  return [...(keys.data ?? []), ...(servers.data ?? [])]
    .filter(({ secret_mappings: mappings }) => mappings.some(({ secret_reference_id: id }) => id === referenceId))
    .map(({ name }) => name);
}

function UsedBy({ referenceId }: { readonly referenceId: string }) {
  const { may } = useLogin();
  const users = useUsersOf(referenceId);
  const seesAll = may('virtual_keys.list') && may('mcp_servers.list');
  if (users.length === 0) return <span className="text-muted">{seesAll ? 'nothing' : 'nothing that you may see'}</span>;
  return <span className="wrap-anywhere">{users.join(', ')}</span>;
}

function TestReference({ reference: { id, name } }: { readonly reference: SecretReference }) {
  const test = useMutation({
    mutationFn: async () => (await testSecretReference({ path: { ref: id }, body: {}, throwOnError: true })).data,
  });
  return (
    <TestResult
      label={`Test ${name}`}
      sent={test}
      onTest={() => test.mutate()}
      result={test.data}
      problem={test.error?.message ?? reasonOf(test.data)}
    />
  );
}

function Delete({ reference, onClose }: { readonly reference: SecretReference; readonly onClose: () => void }) {
  const users = useUsersOf(reference.id);
  const remove = async (): Promise<void> => {
    await deleteSecretReference({ path: { ref: reference.id }, throwOnError: true });
  };
  return (
    <Confirm
      title={`Delete ${reference.name}`}
      action="Delete"
      isBlocked={users.length > 0}
      onConfirm={remove}
      onClose={onClose}
    >
      {users.length > 0 ? (
        <p className="wrap-anywhere">It cannot be deleted while it is used by {users.join(', ')}.</p>
      ) : (
        <p>The gateway forgets the credentials for the manager. The secret itself stays there.</p>
      )}
    </Confirm>
  );
}
