import { useState } from 'react';
import { FieldSet } from '../components/ui/field';
import { useLogin } from '../lib/login-context';
import { useNames } from '../lib/names';

interface AllowedWorkspacesProps {
  /** Ids; none: all workspaces. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** The workspaces that may use a secret reference. One that a caller of a workspace makes is for that workspace. */
export function AllowedWorkspaces({ chosen, onChange }: AllowedWorkspacesProps) {
  const { caller } = useLogin();
  const [before] = useState(chosen);
  const offered = new Map(caller.workspaces.map(({ id, name }) => [id, name]));
  // Also one that was deleted meanwhile, or is not among those that the caller names: otherwise it could not be taken away.
  const others = [...new Set([...before, ...chosen])].filter((id) => !offered.has(id));
  const nameIds = useNames(others);
  for (const id of others) offered.set(id, nameIds(id) === id ? `unknown workspace ${id}` : nameIds(id));
  if (caller.workspace_id !== null) return null;
  return (
    <FieldSet
      legend="Workspaces that may use it"
      param="allowed_workspaces"
      hint={chosen.length === 0 ? 'All of them, as none is chosen.' : 'Only these.'}
    >
      <div className="flex max-h-40 flex-wrap gap-x-4 gap-y-1 overflow-y-auto">
        {[...offered].map(([id, name]) => (
          <label key={id} className="flex min-w-0 items-center gap-2">
            <input
              type="checkbox"
              className="size-4 shrink-0 accent-accent"
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, id] : chosen.filter((other) => other !== id))
              }
            />
            <span className="wrap-anywhere">{name}</span>
          </label>
        ))}
      </div>
    </FieldSet>
  );
}

export function allowedOf(chosen: readonly string[]) {
  const isForAll = chosen.length === 0;
  return { allow_all_workspaces: isForAll, allowed_workspaces: isForAll ? null : [...chosen] };
}
