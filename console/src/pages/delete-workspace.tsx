import { useQuery } from '@tanstack/react-query';
import {
  listApiKeysOptions,
  listMcpServersOptions,
  listModelRoutesOptions,
  listUsageLimitsOptions,
  listVirtualKeysOptions,
  listWebhooksOptions,
} from '../api/@tanstack/react-query.gen';
import { deleteWorkspace } from '../api/sdk.gen';
import type { Workspace } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { Loading } from '../components/states';
import { whole } from '../lib/format';

interface DeleteWorkspaceProps {
  readonly workspace: Workspace;
  readonly onClose: () => void;
}

/** What belongs to a workspace keeps it: the gateway refuses to delete it then. */
export function DeleteWorkspace({ workspace, onClose }: DeleteWorkspaceProps) {
  const kept = useWhatKeeps(workspace.id);
  const remove = async (): Promise<void> => {
    await deleteWorkspace({ path: { ref: workspace.id }, throwOnError: true });
  };
  const found = kept?.filter(({ total }) => total > 0) ?? [];
  return (
    <Confirm
      title={`Delete ${workspace.name}`}
      action="Delete"
      isBlocked={kept === undefined || found.length > 0}
      onConfirm={remove}
      onClose={onClose}
    >
      {kept === undefined && <Loading />}
      {found.length > 0 && (
        <>
          <p>It cannot be deleted while these belong to it. Delete or archive them first:</p>
          <ul className="list-disc pl-5">
            {found.map(({ kind, total }) => (
              <li key={kind}>
                {kind}: {whole(total)}
              </li>
            ))}
          </ul>
        </>
      )}
      {kept !== undefined && found.length === 0 && (
        <p>
          No keys, limits or servers belong to it. People who are logged in to it are logged out, and groups of the
          identity provider that name it give no role any more. Past calls stay in the reports.
        </p>
      )}
    </Confirm>
  );
}

/** Undefined until all is counted. */
function useWhatKeeps(workspaceId: string) {
  const query = { workspace_id: workspaceId, page_size: 1 };
  const active = { ...query, status: 'active' as const };
  const lists = {
    'API keys': useQuery(listApiKeysOptions({ query })),
    'Virtual keys': useQuery(listVirtualKeysOptions({ query })),
    'MCP servers': useQuery(listMcpServersOptions({ query })),
    'Model routes': useQuery(listModelRoutesOptions({ query })),
    'Active limits': useQuery(listUsageLimitsOptions({ query: active })),
    Webhooks: useQuery(listWebhooksOptions({ query })),
  };
  // A list that the caller may not read counts as empty: the gateway decides.
  if (Object.values(lists).some(({ isPending }) => isPending)) return undefined;
  return Object.entries(lists).map(([kind, { data }]) => ({ kind, total: data?.total ?? 0 }));
}
