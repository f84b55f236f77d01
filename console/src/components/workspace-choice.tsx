import type { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { useWorkspaces } from '../lib/whole';
import { Choose } from './list-tools';

/** Chooses the workspace whose part of a list is shown. Callers of one workspace see no other. */
export function WorkspaceChoice({ list }: { readonly list: ReturnType<typeof useListSearch> }) {
  const { caller } = useLogin();
  const { workspaces } = useWorkspaces();
  if (caller.workspace_id !== null || workspaces.length === 0) return null;
  // The address may name one by its id, or one that the caller may not list.
  const given = list.workspace === undefined ? {} : { [list.workspace]: list.workspace };
  const names = Object.fromEntries(workspaces.map(({ slug, name }) => [slug, name]));
  const options = { '': 'All workspaces', ...given, ...names };
  return <Choose label="Workspace" value={list.workspace ?? ''} options={options} onChoose={list.onWorkspace} />;
}
