import { useQuery } from '@tanstack/react-query';
import { listVirtualKeysOptions } from '../api/@tanstack/react-query.gen';
import { AddButton } from '../components/add-button';
import { useUsable } from '../components/workspace-field';
import { useLogin } from '../lib/login-context';
import { newTarget, type Strategy, type TargetDraft } from '../lib/model-targets';
import { ModelTargetFields } from './model-target-fields';

const MAX_TARGETS = 16;

interface ModelTargetListProps {
  readonly targets: readonly TargetDraft[];
  readonly strategy: Strategy;
  /** Id or slug of the workspace whose virtual keys can be chosen; empty: those of all. */
  readonly workspace: string;
  readonly onChange: (targets: readonly TargetDraft[]) => void;
}

/** The targets of a model route, in the order in which they are tried. */
export function ModelTargetList({ targets, strategy, workspace, onChange }: ModelTargetListProps) {
  const { may } = useLogin();
  const virtualKeys = useQuery({
    ...listVirtualKeysOptions({ query: { page_size: 100 } }),
    enabled: may('virtual_keys.list'),
  });
  const all = virtualKeys.data?.data ?? [];
  const usable = useUsable(all, workspace);
  return (
    <>
      <ol className="space-y-3">
        {targets.map((target, at) => (
          <ModelTargetFields
            key={target.id}
            target={target}
            at={at}
            count={targets.length}
            strategy={strategy}
            virtualKeys={usable}
            hasMore={(virtualKeys.data?.total ?? 0) > all.length}
            onChange={(next) => onChange(targets.with(at, next))}
            onMove={(to) => onChange(targets.toSpliced(at, 1).toSpliced(to, 0, target))}
            onRemove={() => onChange(targets.toSpliced(at, 1))}
          />
        ))}
      </ol>
      {targets.length < MAX_TARGETS && (
        <AddButton onAdd={() => onChange([...targets, newTarget()])}>Add a target</AddButton>
      )}
    </>
  );
}
