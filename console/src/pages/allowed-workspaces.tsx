import { useState } from 'react';
import { FieldSet, Input } from '../components/ui/field';
import { whole } from '../lib/format';
import { useLogin } from '../lib/login-context';
import { useNames } from '../lib/names';
import { useWorkspaces } from '../lib/whole';

/** Fewer can be looked over. */
const MANY = 12;
/** More are found by a search only: a form of thousands is slow. */
const MAX_SHOWN = 100;

interface AllowedWorkspacesProps {
  /** Ids; none: all workspaces. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** The workspaces that may use a secret reference. One that a caller of a workspace makes is for that workspace. */
export function AllowedWorkspaces({ chosen, onChange }: AllowedWorkspacesProps) {
  const { caller } = useLogin();
  const { workspaces } = useWorkspaces();
  const [before] = useState(chosen);
  const [search, setSearch] = useState('');
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  // Also one that was deleted meanwhile, or is not among those that the caller may list: otherwise it could not be taken away.
  const others = [...new Set([...before, ...chosen])].filter((id) => !names.has(id));
  const nameIds = useNames(others);
  for (const id of others) names.set(id, nameIds(id) === id ? `unknown workspace ${id}` : nameIds(id));
  if (caller.workspace_id !== null) return null;
  const isFound = (name: string): boolean => name.toLowerCase().includes(search.trim().toLowerCase());
  // Those of a short list keep their places while they are chosen.
  const isFirst = (id: string): boolean => (names.size > MAX_SHOWN ? [...before, ...chosen] : before).includes(id);
  const found = [...names].filter(([id, name]) => isFirst(id) || isFound(name));
  const first = found.toSorted(([one], [other]) => Number(isFirst(other)) - Number(isFirst(one)));
  const hidden = found.length - MAX_SHOWN;
  return (
    <FieldSet
      legend="Workspaces that may use it"
      param="allowed_workspaces"
      hint={chosen.length === 0 ? 'All of them, as none is chosen.' : 'Only these.'}
    >
      {names.size > MANY && (
        <Input
          type="search"
          aria-label="Search workspaces"
          placeholder="Search workspaces"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={(event) => {
            // Enter would send the form.
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
      )}
      <div className="flex max-h-40 flex-wrap gap-x-4 gap-y-1 overflow-y-auto">
        {first.slice(0, MAX_SHOWN).map(([id, name]) => (
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
      {hidden > 0 && <p className="text-xs text-muted">{whole(hidden)} more: search for them by name.</p>}
    </FieldSet>
  );
}

export function allowedOf(chosen: readonly string[]) {
  const isForAll = chosen.length === 0;
  return { allow_all_workspaces: isForAll, allowed_workspaces: isForAll ? null : [...chosen] };
}
