import type { UseFormReturn } from 'react-hook-form';
import type { VirtualKey } from '../api/types.gen';
import { Field, Input, Select, TextArea } from '../components/ui/field';
import { useLogin } from '../lib/login-context';
import { managerOf } from '../lib/secret-managers';
import { useSecretReferences } from '../lib/whole';
import { asks, hasCredential, type VirtualKeyValues } from '../lib/virtual-key-values';

interface CredentialFieldsProps {
  readonly form: UseFormReturn<VirtualKeyValues>;
  /** Absent: a new one is made. */
  readonly virtualKey: VirtualKey | undefined;
}

/** Where the provider answers, and the credential, which is never shown: what is left empty stays. */
export function CredentialFields({ form, virtualKey }: CredentialFieldsProps) {
  const { errors } = form.formState;
  const [provider, reference] = form.watch(['provider', 'reference']);
  const asked = asks(provider);
  const isStored = virtualKey !== undefined && hasCredential(virtualKey);
  const kept = isStored && virtualKey.secret_mappings.length === 0 ? 'Empty: it stays as it is. ' : '';
  if (asked === 'nothing') return null;
  if (asked === 'only a name') return <p className="text-muted">Its options are changed through the API.</p>;
  return (
    <>
      {asked === 'address' && (
        <Field
          label="Address of the server"
          param="config.base_url"
          error={errors.baseUrl?.message}
          hint={`Most end in /v1. Private addresses need the setting EGRESS_ALLOW.${isStored ? ' Another host needs the key again.' : ''}`}
        >
          {(tie) => <Input {...tie} {...form.register('baseUrl')} placeholder="http://127.0.0.1:11434/v1" />}
        </Field>
      )}
      {asked === 'place' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Project" param="config.google_project" error={errors.project?.message}>
            {(tie) => <Input {...tie} {...form.register('project')} placeholder="my-project" />}
          </Field>
          <Field
            label="Location"
            param="config.google_location"
            error={errors.location?.message}
            hint="A region, us, eu or global."
          >
            {(tie) => <Input {...tie} {...form.register('location')} placeholder="europe-west4" />}
          </Field>
        </div>
      )}
      <ReferenceField form={form} chosen={reference} />
      {asked === 'place' && reference === '' && (
        <Field
          label="Credentials file"
          param="config.google_credentials"
          error={errors.key?.message}
          hint={`${kept}The JSON of a service account's key, or of an external account. It is stored encrypted.`}
        >
          {(tie) => (
            <TextArea
              {...tie}
              {...form.register('key')}
              className="font-mono text-xs"
              rows={5}
              autoComplete="off"
              spellCheck={false}
            />
          )}
        </Field>
      )}
      {asked !== 'place' && reference === '' && (
        <Field
          label="Key of the provider"
          param="key"
          error={errors.key?.message}
          hint={`${kept}It is stored encrypted, and shown masked.`}
        >
          {(tie) => (
            <Input
              {...tie}
              {...form.register('key')}
              type="password"
              autoComplete="off"
              placeholder={virtualKey?.key ?? undefined}
            />
          )}
        </Field>
      )}
    </>
  );
}

interface ReferenceFieldProps {
  readonly form: UseFormReturn<VirtualKeyValues>;
  /** Id of a secret reference; empty: none. */
  readonly chosen: string;
}

function ReferenceField({ form, chosen }: ReferenceFieldProps) {
  const { may } = useLogin();
  const mayRefer = may('secret_references.list') && may('secret_references.use');
  const known = useSecretReferences(mayRefer).data ?? [];
  if (!mayRefer) return null;
  return (
    <Field
      label="Where the key is"
      param="secret_mappings"
      hint="A referenced key stays in the secret manager, and is read there."
    >
      {(tie) => (
        // The value is set again when the options are there: without its option, a list falls back to the first one.
        <Select {...tie} {...form.register('reference')} value={chosen}>
          <option value="">I type it here</option>
          {chosen !== '' && known.every(({ id }) => id !== chosen) && <option value={chosen}>The one it has</option>}
          {known.map(({ id, name, manager_type: manager }) => (
            <option key={id} value={id}>
              {name} ({managerOf(manager).title})
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
