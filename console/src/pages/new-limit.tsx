import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { createUsageLimit } from '../api/sdk.gen';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, Input } from '../components/ui/field';
import { WorkspaceField } from '../components/workspace-field';
import { type LimitValues, NEW_LIMIT, newLimit, previewDays, schemaOf } from '../lib/limit-values';
import { useLogin } from '../lib/login-context';
import { CapFields, EnforcementFields, ScopeFields } from './limit-fields';
import { LimitPreview } from './limit-preview';

/** Makes a limit, and shows beside it what it would have done to the calls of the last days. */
export function NewLimit({ onClose }: { readonly onClose: () => void }) {
  const { caller } = useLogin();
  const mustPlace = caller.type !== 'api_key' && caller.workspace_id === null;
  const form = useForm({ resolver: zodResolver(schemaOf(mustPlace)), defaultValues: NEW_LIMIT });
  const created = useMutation({
    meta: { done: 'The limit is created.' },
    mutationFn: (values: LimitValues) => createUsageLimit({ body: newLimit(values), throwOnError: true }),
    onSuccess: onClose,
  });
  const { errors } = form.formState;
  const values = form.watch();
  const { type, workspace, condition, value, group } = values;
  return (
    <Dialog title="New limit" onClose={onClose}>
      <Form
        sent={created}
        onSubmit={form.handleSubmit((valid) => created.mutate(valid))}
        action="Create limit"
        onClose={onClose}
      >
        <Field label="Name" param="name" error={errors.name?.message}>
          {(tie) => <Input {...tie} {...form.register('name')} placeholder="Monthly budget of each application" />}
        </Field>
        <WorkspaceField
          input={form.register('workspace')}
          shared={mustPlace ? undefined : 'All workspaces'}
          error={errors.workspace?.message}
        />
        <CapFields form={form} />
        <ScopeFields form={form} />
        <EnforcementFields form={form} />
        <LimitPreview
          draft={{
            type,
            cap: Number(values.credit_limit) || 0,
            days: previewDays(values),
            workspace,
            condition,
            value,
            group,
          }}
        />
      </Form>
    </Dialog>
  );
}
