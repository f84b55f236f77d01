import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { createVirtualKey, testVirtualKey, updateVirtualKey } from '../api/sdk.gen';
import type { CreateVirtualKeyRequest, VirtualKey } from '../api/types.gen';
import { Form } from '../components/form';
import { SavedDialog } from '../components/saved-dialog';
import { reasonOf } from '../components/test-result';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { WorkspaceField } from '../components/workspace-field';
import { useIdempotency } from '../lib/idempotency';
import { providerName } from '../lib/providers';
import {
  changesOf,
  FORM_PROVIDERS,
  newVirtualKey,
  schemaOf,
  valuesOf,
  type VirtualKeyValues,
} from '../lib/virtual-key-values';
import { CredentialFields } from './credential-fields';

interface VirtualKeyFormProps {
  /** Absent: a new one is made. */
  readonly virtualKey?: VirtualKey;
  readonly onClose: () => void;
}

/** Makes or changes a virtual key, and tests it once. What the form does not show stays as it is. */
export function VirtualKeyForm({ virtualKey, onClose }: VirtualKeyFormProps) {
  const idempotency = useIdempotency();
  const form = useForm({ resolver: zodResolver(schemaOf(virtualKey)), defaultValues: valuesOf(virtualKey) });
  const create = async (body: CreateVirtualKeyRequest): Promise<string> =>
    (await createVirtualKey({ body, headers: idempotency(body), throwOnError: true })).data.id;
  const saved = useMutation({
    mutationFn: async (values: VirtualKeyValues) => {
      const ref = virtualKey?.id ?? (await create(newVirtualKey(values)));
      if (virtualKey !== undefined) {
        await updateVirtualKey({ path: { ref }, body: changesOf(virtualKey, values), throwOnError: true });
      }
      return (await testVirtualKey({ path: { ref }, body: {}, throwOnError: true })).data;
    },
  });
  if (saved.isSuccess) {
    return (
      <SavedDialog title="The virtual key is saved" failure={reasonOf(saved.data)} onClose={onClose}>
        The provider accepts the key.
      </SavedDialog>
    );
  }
  const { errors } = form.formState;
  const isNew = virtualKey === undefined;
  return (
    <Dialog title={isNew ? 'New virtual key' : `Change ${virtualKey.name}`} onClose={onClose}>
      <Form
        sent={saved}
        onSubmit={form.handleSubmit((values) => saved.mutate(values))}
        action="Save and test"
        onClose={onClose}
      >
        {isNew && (
          <Field label="Provider" param="provider">
            {(tie) => (
              <Select {...tie} {...form.register('provider')}>
                {FORM_PROVIDERS.map(([id, title]) => (
                  <option key={id} value={id}>
                    {title}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <div className={isNew ? 'grid gap-4 sm:grid-cols-2' : undefined}>
          <Field
            label="Name"
            param="name"
            error={errors.name?.message}
            hint={
              isNew
                ? undefined
                : `Calls still name it @${virtualKey.slug}; it stays at ${providerName(virtualKey.provider)}.`
            }
          >
            {(tie) => <Input {...tie} {...form.register('name')} />}
          </Field>
          {isNew && (
            <Field
              label="Slug"
              param="slug"
              error={errors.slug?.message}
              hint="Calls name it. Without one, the gateway makes it from the name."
            >
              {(tie) => <Input {...tie} {...form.register('slug')} spellCheck={false} />}
            </Field>
          )}
        </div>
        {isNew && <WorkspaceField input={form.register('workspace')} shared="All workspaces may use it" />}
        <CredentialFields form={form} virtualKey={virtualKey} />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Description" param="description" error={errors.description?.message}>
            {(tie) => <Input {...tie} {...form.register('description')} maxLength={1024} />}
          </Field>
          <Field label="Last day" param="expires_at" hint="Calls are refused after it. Empty: it does not end.">
            {(tie) => <Input {...tie} {...form.register('ends')} type="date" />}
          </Field>
        </div>
      </Form>
    </Dialog>
  );
}
