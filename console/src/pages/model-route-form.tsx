import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { listVirtualKeysOptions } from '../api/@tanstack/react-query.gen';
import { createModelRoute, updateModelRoute } from '../api/sdk.gen';
import type { ModelRoute } from '../api/types.gen';
import { AddButton } from '../components/add-button';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { inWorkspace, useUsable, WorkspaceField } from '../components/workspace-field';
import { useLogin } from '../lib/login-context';
import {
  draftsOf,
  isStrategy,
  NEW_TARGET,
  STRATEGIES,
  type Strategy,
  strategyOf,
  type TargetDraft,
  targetsOf,
} from '../lib/model-targets';
import { ModelTargetFields } from './model-target-fields';

interface Values {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly workspace: string;
  readonly maxOutput: string;
  readonly clampOutput: boolean;
}

interface ModelRouteFormProps {
  /** Absent: a new one is made. */
  readonly route?: ModelRoute;
  readonly onClose: () => void;
}

const MAX_TARGETS = 16;
let lastId = 0;

/** Makes or changes a model route. Targets are sent only when they were changed. */
export function ModelRouteForm({ route, onClose }: ModelRouteFormProps) {
  const { may } = useLogin();
  const [strategy, setStrategy] = useState<Strategy>(route === undefined ? 'order' : strategyOf(route.targets));
  const [targets, setTargets] = useState<readonly Keyed[]>(() => keyed(route && draftsOf(route.targets)));
  const [isChanged, setChanged] = useState(route === undefined);
  const virtualKeys = useQuery({
    ...listVirtualKeysOptions({ query: { page_size: 100 } }),
    enabled: may('virtual_keys.list'),
  });
  const form = useForm<Values>({
    defaultValues: {
      name: route?.name ?? '',
      slug: '',
      description: route?.description ?? '',
      workspace: '',
      maxOutput: route?.max_output_tokens?.toString() ?? '',
      clampOutput: route?.clamp_output ?? false,
    },
  });
  const all = virtualKeys.data?.data ?? [];
  const usable = useUsable(all, route?.workspace_id ?? form.watch('workspace'));
  const saved = useMutation({
    meta: { done: 'The route is saved.' },
    mutationFn: async ({ name, slug, workspace, description, maxOutput, clampOutput }: Values): Promise<unknown> => {
      const fields = {
        name: name.trim(),
        description: description.trim() === '' ? null : description.trim(),
        max_output_tokens: maxOutput === '' ? null : Number(maxOutput),
        clamp_output: clampOutput,
      };
      const next = targetsOf(targets, strategy);
      if (route !== undefined) {
        const body = isChanged ? { ...fields, targets: next } : fields;
        return updateModelRoute({ path: { ref: route.id }, body, throwOnError: true });
      }
      const named = slug.trim() === '' ? {} : { slug: slug.trim() };
      return createModelRoute({
        body: { ...fields, ...named, ...inWorkspace(workspace), targets: next },
        throwOnError: true,
      });
    },
    onSuccess: onClose,
  });
  const change = (next: readonly Keyed[]): void => {
    setTargets(next);
    setChanged(true);
  };
  return (
    <Dialog title={route === undefined ? 'New model route' : `Change ${route.name}`} onClose={onClose}>
      <Form
        sent={saved}
        onSubmit={form.handleSubmit((values) => saved.mutate(values))}
        action={route === undefined ? 'Create route' : 'Save'}
        onClose={onClose}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" param="name" hint="Programs send it as the model.">
            {(tie) => (
              <Input
                {...tie}
                {...form.register('name')}
                required
                maxLength={255}
                spellCheck={false}
                placeholder="fast"
              />
            )}
          </Field>
          {route === undefined ? (
            <Field label="Slug" param="slug" hint="For addresses of the API. Empty: made from the name.">
              {(tie) => <Input {...tie} {...form.register('slug')} spellCheck={false} />}
            </Field>
          ) : (
            <Field label="Description" param="description">
              {(tie) => <Input {...tie} {...form.register('description')} maxLength={1024} />}
            </Field>
          )}
        </div>
        {route === undefined && (
          <>
            <Field label="Description" param="description">
              {(tie) => <Input {...tie} {...form.register('description')} maxLength={1024} />}
            </Field>
            <WorkspaceField input={form.register('workspace')} shared="All workspaces may use it" />
          </>
        )}
        <Field label="Which target takes a call" hint="When a target fails, the next one takes the call in any case.">
          {(tie) => (
            <Select
              {...tie}
              value={strategy}
              onChange={({ target }) => {
                if (isStrategy(target.value)) setStrategy(target.value);
                setChanged(true);
              }}
            >
              {Object.entries(STRATEGIES).map(([key, words]) => (
                <option key={key} value={key}>
                  {words}
                </option>
              ))}
            </Select>
          )}
        </Field>
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
              onChange={(next) => change(targets.with(at, { ...next, id: target.id }))}
              onMove={(to) => change(moved(targets, at, to))}
              onRemove={() => change(targets.toSpliced(at, 1))}
            />
          ))}
        </ol>
        {targets.length < MAX_TARGETS && (
          <AddButton onAdd={() => change([...targets, ...keyed([NEW_TARGET])])}>Add a target</AddButton>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label="Longest output in tokens"
            param="max_output_tokens"
            hint="Calls that ask for more, or for no bound, get this one."
          >
            {(tie) => <Input {...tie} {...form.register('maxOutput')} type="number" min={1} />}
          </Field>
          <label className="flex items-center gap-2">
            <input type="checkbox" className="size-4 shrink-0 accent-accent" {...form.register('clampOutput')} />
            Shorten outputs that a usage limit has no room for
          </label>
        </div>
      </Form>
    </Dialog>
  );
}

/** A target keeps its fields when others move. */
interface Keyed extends TargetDraft {
  readonly id: string;
}

function keyed(drafts: readonly TargetDraft[] = [NEW_TARGET]): readonly Keyed[] {
  return drafts.map((draft) => ({ ...draft, id: String((lastId += 1)) }));
}

function moved(targets: readonly Keyed[], from: number, to: number): readonly Keyed[] {
  const one = targets[from];
  return one === undefined ? targets : targets.toSpliced(from, 1).toSpliced(to, 0, one);
}
