/** The field of a body for a chosen workspace. */
export function inWorkspace(workspace: string): { readonly workspace_id?: string } {
  return workspace.trim() === '' ? {} : { workspace_id: workspace.trim() };
}
