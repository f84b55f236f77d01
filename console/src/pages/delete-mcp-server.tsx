import { useQuery } from '@tanstack/react-query';
import { listMcpServerCallsOptions } from '../api/@tanstack/react-query.gen';
import { deleteMcpServer } from '../api/sdk.gen';
import type { ApiKey, McpServer } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { When } from '../components/when';
import { useApiKeys } from '../lib/whole';

interface DeleteMcpServerProps {
  readonly server: McpServer;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function DeleteMcpServer({ server, onClose, onDeleted }: DeleteMcpServerProps) {
  const keys = useApiKeys();
  const calls = useQuery(listMcpServerCallsOptions({ path: { ref: server.id }, query: { page_size: 1 } }));
  const bound = (keys.data ?? []).filter(({ allowed_mcp_servers: allowed }: ApiKey) => allowed?.includes(server.slug));
  const last = calls.data?.data[0];
  const remove = async (): Promise<void> => {
    await deleteMcpServer({ path: { ref: server.id }, throwOnError: true });
    onDeleted();
  };
  return (
    <Confirm
      title={`Delete ${server.name}`}
      action="Delete"
      isBlocked={keys.isLoading}
      onConfirm={remove}
      onClose={onClose}
    >
      <p className="wrap-anywhere">
        Clients that use {server.mcp_url} get an error. Its headers, tools and switches are removed here; the server
        itself goes on.
      </p>
      {last !== undefined && (
        <p>
          It was last called <When at={last.created_at} />.
        </p>
      )}
      {bound.length > 0 && (
        <p className="wrap-anywhere">Keys that name it: {bound.map(({ name }) => name).join(', ')}.</p>
      )}
    </Confirm>
  );
}
