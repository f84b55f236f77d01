import type { UseFormRegisterReturn } from 'react-hook-form';
import { useLogin } from '../lib/login-context';
import { useWorkspaces } from '../lib/whole';
import { Field, Input, Select } from './ui/field';

interface WorkspaceFieldProps {
  readonly input: UseFormRegisterReturn;
  /** What it means to choose none; undefined: one must be chosen. */
  readonly shared: string | undefined;
  readonly hint?: string;
  readonly error?: string | undefined;
}

/** The workspace of something new. Callers of one workspace have no choice: the gateway puts it there. */
export function WorkspaceField({ input, shared, hint, error }: WorkspaceFieldProps) {
  const { caller } = useLogin();
  const { workspaces, hasMore } = useWorkspaces();
  if (caller.workspace_id !== null) return null;
  if (hasMore) {
    const named = hint ?? (shared === undefined ? 'By its slug.' : `By its slug. Empty: ${shared}.`);
    return (
      <Field label="Workspace" param="workspace_id" hint={named} error={error}>
        {(tie) => <Input {...tie} {...input} spellCheck={false} />}
      </Field>
    );
  }
  return (
    <Field label="Workspace" param="workspace_id" hint={hint} error={error}>
      {(tie) => (
        <Select {...tie} {...input}>
          <option value="">{shared ?? 'Choose a workspace'}</option>
          {workspaces.map(({ id, name, slug }) => (
            <option key={id} value={id}>
              {name === slug ? name : `${name} (${slug})`}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/**
 * Of virtual keys, those that callers of a chosen workspace can use: its own, and those of all workspaces.
 * @param workspace as the field has it: id or slug; empty or unknown: all are
 */
export function useUsable<Row extends { readonly workspace_id: string | null }>(
  rows: readonly Row[],
  workspace: string,
): readonly Row[] {
  const { caller } = useLogin();
  const { workspaces } = useWorkspaces();
  const named = workspace.trim();
  const place = caller.workspace_id ?? workspaces.find(({ id, slug }) => id === named || slug === named)?.id;
  return place === undefined ? rows : rows.filter(({ workspace_id: owner }) => owner === null || owner === place);
}
