import type { UseFormRegisterReturn } from 'react-hook-form';
import { useLogin } from '../lib/login-context';
import { Field, Input, Select } from './ui/field';

/** As many as `GET /v1/me` names at most. */
const MAX_NAMED = 100;

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
  if (caller.workspace_id !== null) return null;
  if (caller.workspaces.length >= MAX_NAMED) {
    const named = hint ?? (shared === undefined ? 'By its slug.' : `By its slug. Empty: ${shared}.`);
    return (
      <Field label="Workspace" hint={named} error={error}>
        {(tie) => <Input {...tie} {...input} spellCheck={false} />}
      </Field>
    );
  }
  return (
    <Field label="Workspace" hint={hint} error={error}>
      {(tie) => (
        <Select {...tie} {...input}>
          <option value="">{shared ?? 'Choose a workspace'}</option>
          {caller.workspaces.map(({ id, name, slug }) => (
            <option key={id} value={id}>
              {name === slug ? name : `${name} (${slug})`}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** The field of a body for a chosen workspace. */
export function inWorkspace(workspace: string): { readonly workspace_id?: string } {
  return workspace.trim() === '' ? {} : { workspace_id: workspace.trim() };
}
