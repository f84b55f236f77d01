import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm, type UseFormRegister } from 'react-hook-form';
import { createModelRoute, updateModelRoute } from '../api/sdk.gen';
import type { ModelRoute } from '../api/types.gen';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { WorkspaceField } from '../components/workspace-field';
import { differences } from '../lib/differences';
import { inWorkspace } from '../lib/in-workspace';
import {
  draftsOf,
  isStrategy,
  newTarget,
  STRATEGIES,
  type Strategy,
  strategyOf,
  targetsOf,
} from '../lib/model-targets';
import { ModelTargetList } from './model-target-list';

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

/** Makes or changes a model route. Only what was changed is sent. */
export function ModelRouteForm({ route, onClose }: ModelRouteFormProps) {
  const [strategy, setStrategy] = useState<Strategy>(route === undefined ? 'order' : strategyOf(route.targets));
  const [targets, setTargets] = useState(() => (route === undefined ? [newTarget()] : draftsOf(route.targets)));
  const [isChanged, setChanged] = useState(route === undefined);
  const form = useForm<Values>({ defaultValues: valuesOf(route) });
  const saved = useMutation({
    meta: { done: 'The route is saved.' },
    mutationFn: async (values: Values): Promise<unknown> => {
      const fields = fieldsOf(values);
      const next = targetsOf(targets, strategy);
      if (route !== undefined) {
        const changed = differences(fieldsOf(valuesOf(route)), fields);
        const body = isChanged ? { ...changed, targets: next } : changed;
        return updateModelRoute({ path: { ref: route.id }, body, throwOnError: true });
      }
      const slug = values.slug.trim();
      return createModelRoute({
        body: { ...fields, ...(slug !== '' && { slug }), ...inWorkspace(values.workspace), targets: next },
        throwOnError: true,
      });
    },
    onSuccess: onClose,
  });
  return (
    <Dialog title={route === undefined ? 'New model route' : `Change ${route.name}`} onClose={onClose}>
      <Form
        sent={saved}
        onSubmit={form.handleSubmit((values) => saved.mutate(values))}
        action={route === undefined ? 'Create route' : 'Save'}
        onClose={onClose}
      >
        <NameFields register={form.register} isNew={route === undefined} />
        <StrategyField
          strategy={strategy}
          onChange={(next) => {
            setStrategy(next);
            setChanged(true);
          }}
        />
        <ModelTargetList
          targets={targets}
          strategy={strategy}
          workspace={route?.workspace_id ?? form.watch('workspace')}
          onChange={(next) => {
            setTargets(next);
            setChanged(true);
          }}
        />
        <OutputFields register={form.register} />
      </Form>
    </Dialog>
  );
}

interface PartProps {
  readonly register: UseFormRegister<Values>;
}

function NameFields({ register, isNew }: PartProps & { readonly isNew: boolean }) {
  const description = (
    <Field label="Description" param="description">
      {(tie) => <Input {...tie} {...register('description')} maxLength={1024} />}
    </Field>
  );
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Name" param="name" hint="Programs send it as the model.">
          {(tie) => (
            <Input {...tie} {...register('name')} required maxLength={255} spellCheck={false} placeholder="fast" />
          )}
        </Field>
        {isNew ? (
          <Field label="Slug" param="slug" hint="For addresses of the API. Empty: made from the name.">
            {(tie) => <Input {...tie} {...register('slug')} spellCheck={false} />}
          </Field>
        ) : (
          description
        )}
      </div>
      {isNew && (
        <>
          {description}
          <WorkspaceField input={register('workspace')} shared="All workspaces may use it" />
        </>
      )}
    </>
  );
}

interface StrategyFieldProps {
  readonly strategy: Strategy;
  readonly onChange: (strategy: Strategy) => void;
}

function StrategyField({ strategy, onChange }: StrategyFieldProps) {
  return (
    <Field label="Which target takes a call" hint="When a target fails, the next one takes the call in any case.">
      {(tie) => (
        <Select {...tie} value={strategy} onChange={({ target }) => isStrategy(target.value) && onChange(target.value)}>
          {Object.entries(STRATEGIES).map(([key, words]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function OutputFields({ register }: PartProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field
        label="Longest output in tokens"
        param="max_output_tokens"
        hint="Calls that ask for more, or for no bound, get this one."
      >
        {(tie) => <Input {...tie} {...register('maxOutput')} type="number" min={1} />}
      </Field>
      <label className="flex items-center gap-2">
        <input type="checkbox" className="size-4 shrink-0 accent-accent" {...register('clampOutput')} />
        Shorten outputs that a usage limit has no room for
      </label>
    </div>
  );
}

function valuesOf(route: ModelRoute | undefined): Values {
  return {
    name: route?.name ?? '',
    slug: '',
    description: route?.description ?? '',
    workspace: '',
    maxOutput: route?.max_output_tokens?.toString() ?? '',
    clampOutput: route?.clamp_output ?? false,
  };
}

/** What a new route and a change have in common. */
function fieldsOf({ name, description, maxOutput, clampOutput }: Values) {
  return {
    name: name.trim(),
    description: description.trim() === '' ? null : description.trim(),
    max_output_tokens: maxOutput === '' ? null : Number(maxOutput),
    clamp_output: clampOutput,
  };
}
