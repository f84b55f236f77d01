import { useMutation } from '@tanstack/react-query';
import { Controller, useForm, useWatch } from 'react-hook-form';
import { createWorkspace, updateWorkspace } from '../api/sdk.gen';
import type { Workspace } from '../api/types.gen';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, TextArea } from '../components/ui/field';
import { differences } from '../lib/differences';
import { BodyLogFields, bodyLogRules, type BodyLogValues, bodyLogValues } from './body-log-fields';
import { MetadataFields, type Pair } from './metadata-fields';

interface Values extends BodyLogValues {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly metadata: readonly Pair[];
}

interface WorkspaceFormProps {
  /** Absent: a new one is made. */
  readonly workspace?: Workspace;
  readonly onClose: () => void;
}

/** Makes or changes a workspace. */
export function WorkspaceForm({ workspace, onClose }: WorkspaceFormProps) {
  const form = useForm<Values>({ defaultValues: valuesOf(workspace) });
  const keepsBodies = useWatch({ control: form.control, name: 'keepsBodies' });
  const saved = useMutation({
    meta: { done: 'The workspace is saved.' },
    mutationFn: async (values: Values): Promise<unknown> => {
      const body = bodyOf(values);
      if (workspace !== undefined) {
        const changed = differences(bodyOf(valuesOf(workspace)), body);
        return updateWorkspace({ path: { ref: workspace.id }, body: changed, throwOnError: true });
      }
      const slug = values.slug.trim();
      return createWorkspace({ body: slug === '' ? body : { ...body, slug }, throwOnError: true });
    },
    onSuccess: onClose,
  });
  return (
    <Dialog title={workspace === undefined ? 'New workspace' : `Change ${workspace.name}`} onClose={onClose}>
      <Form
        sent={saved}
        onSubmit={form.handleSubmit((values) => saved.mutate(values))}
        action={workspace === undefined ? 'Create workspace' : 'Save'}
        onClose={onClose}
      >
        <div className={workspace === undefined ? 'grid gap-4 sm:grid-cols-2' : undefined}>
          <Field
            label="Name"
            param="name"
            hint={workspace === undefined ? undefined : `Its slug stays ${workspace.slug}.`}
          >
            {(tie) => <Input {...tie} {...form.register('name')} required maxLength={255} />}
          </Field>
          {workspace === undefined && (
            <Field label="Slug" param="slug" hint="Requests name the workspace by it. Empty: made from the name.">
              {(tie) => <Input {...tie} {...form.register('slug')} spellCheck={false} />}
            </Field>
          )}
        </div>
        <Field label="Description" param="description">
          {(tie) => <TextArea {...tie} {...form.register('description')} rows={3} maxLength={1024} />}
        </Field>
        <Controller
          control={form.control}
          name="metadata"
          render={({ field }) => (
            <MetadataFields
              legend="Default metadata"
              param="defaults.metadata"
              hint="Each call in the workspace has these, unless the call or its key says otherwise. Limits and reports can use them."
              pairs={field.value}
              onChange={field.onChange}
            />
          )}
        />
        <BodyLogFields register={form.register} isOn={keepsBodies} />
      </Form>
    </Dialog>
  );
}

function valuesOf(workspace: Workspace | undefined): Values {
  return {
    name: workspace?.name ?? '',
    slug: '',
    description: workspace?.description ?? '',
    metadata: Object.entries(workspace?.defaults.metadata ?? {}),
    ...bodyLogValues(workspace?.log_bodies ?? null),
  };
}

function bodyOf(values: Values) {
  const { name, description, metadata } = values;
  const pairs = metadata.map(([key, value]): Pair => [key.trim(), value]).filter(([key]) => key !== '');
  return {
    name: name.trim(),
    description: description.trim() === '' ? null : description.trim(),
    log_bodies: bodyLogRules(values),
    defaults: { metadata: Object.fromEntries(pairs) },
  };
}
