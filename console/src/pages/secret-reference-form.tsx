import { useMutation } from '@tanstack/react-query';
import { useForm, type UseFormReturn } from 'react-hook-form';
import { createSecretReference, testSecretReference, updateSecretReference } from '../api/sdk.gen';
import type { SecretReference } from '../api/types.gen';
import { Form } from '../components/form';
import { SavedDialog } from '../components/saved-dialog';
import { differences } from '../lib/differences';
import { useIdempotency } from '../lib/idempotency';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { isManager, managerOf, NEW_MANAGERS, type NamedManager } from '../lib/secret-managers';
import { AllowedWorkspaces, allowedOf } from './allowed-workspaces';
import { useLogin } from '../lib/login-context';

interface Values {
  readonly name: string;
  readonly manager: string;
  readonly variant: string;
  readonly path: string;
  readonly key: string;
  readonly version: string;
  readonly workspaces: readonly string[];
  /** By the names of the fields behind the prefix. */
  readonly credentials: Readonly<Record<string, string>>;
}

interface SecretReferenceFormProps {
  /** Absent: a new one is made. */
  readonly reference?: SecretReference;
  readonly onClose: () => void;
}

/** Makes or changes a secret reference, and reads the secret once. Stored credentials are shown masked, and kept when left empty. */
export function SecretReferenceForm({ reference, onClose }: SecretReferenceFormProps) {
  const { caller } = useLogin();
  const idempotency = useIdempotency();
  const form = useForm<Values>({ defaultValues: valuesOf(reference) });
  const saved = useMutation({
    mutationFn: async (values: Values) => {
      const { manager, workspaces } = values;
      if (!isManager(manager)) throw new Error('There is no such manager.');
      const fields = fieldsOf(values, reference);
      const allowed = caller.workspace_id === null && isOtherChoice(workspaces, reference) ? allowedOf(workspaces) : {};
      const ref = reference?.id ?? (await create({ ...fields, ...allowed, manager_type: manager }, idempotency));
      if (reference !== undefined) {
        const changed = differences(fieldsOf(valuesOf(reference), reference), fields);
        await updateSecretReference({ path: { ref }, body: { ...changed, ...allowed }, throwOnError: true });
      }
      return (await testSecretReference({ path: { ref }, body: {}, throwOnError: true })).data;
    },
  });
  if (saved.isSuccess) {
    const { ok, error, reason } = saved.data;
    const failure = ok ? undefined : [error, reason].filter(Boolean).join(', ');
    return (
      <SavedDialog title="The secret reference is saved" failure={failure} onClose={onClose}>
        The secret can be read.
      </SavedDialog>
    );
  }
  return (
    <Dialog title={reference === undefined ? 'New secret reference' : `Change ${reference.name}`} onClose={onClose}>
      <Form
        sent={saved}
        onSubmit={form.handleSubmit((values) => saved.mutate(values))}
        action="Save and test"
        onClose={onClose}
      >
        <Field label="Name" param="name">
          {(tie) => <Input {...tie} {...form.register('name')} required maxLength={255} />}
        </Field>
        <ManagerFields form={form} reference={reference} />
        <PlaceFields form={form} />
        <AllowedWorkspaces chosen={form.watch('workspaces')} onChange={(next) => form.setValue('workspaces', next)} />
      </Form>
    </Dialog>
  );
}

interface PartProps {
  readonly form: UseFormReturn<Values>;
}

/** The secret manager, and how the gateway logs in there. */
function ManagerFields({ form, reference }: PartProps & Pick<SecretReferenceFormProps, 'reference'>) {
  const [manager, variant] = form.watch(['manager', 'variant']);
  const { prefix, discriminator, variants } = managerOf(manager);
  const externalId = reference?.auth_config[`${prefix}external_id`];
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Manager" param="manager_type">
          {(tie) => (
            <Select
              {...tie}
              {...form.register('manager', {
                onChange: ({ target }) => form.setValue('variant', firstVariantOf(managerOf(target.value))),
              })}
              disabled={reference !== undefined}
            >
              {(reference === undefined ? NEW_MANAGERS : [reference.manager_type]).map((type) => (
                <option key={type} value={type}>
                  {managerOf(type).title}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="The gateway logs in with" param={`auth_config.${prefix}${discriminator}`}>
          {(tie) => (
            <Select {...tie} {...form.register('variant')}>
              {Object.entries(variants).map(([name, { title }]) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {variants[variant]?.fields.map(({ name, title, hint, isSecret, isOptional }) => {
          const stored = isSecret && reference?.auth_config[`masked_${prefix}${name}`];
          return (
            <Field
              key={name}
              param={`auth_config.${prefix}${name}`}
              label={isOptional ? `${title} (optional)` : title}
              hint={hint}
            >
              {(tie) => (
                <Input
                  {...tie}
                  {...form.register(`credentials.${name}`)}
                  type={isSecret ? 'password' : 'text'}
                  autoComplete="off"
                  spellCheck={false}
                  placeholder={stored || undefined}
                  required={!isOptional && !stored}
                />
              )}
            </Field>
          );
        })}
      </div>
      {externalId !== undefined && (
        <p className="wrap-anywhere text-muted">
          External id for the trust policy: <span className="font-mono text-xs">{externalId}</span>
        </p>
      )}
    </>
  );
}

/** Where the secret is in the manager. */
function PlaceFields({ form }: PartProps) {
  const { pathHint } = managerOf(form.watch('manager'));
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <Field label="Secret" param="secret_path" hint={pathHint}>
        {(tie) => <Input {...tie} {...form.register('path')} required maxLength={1024} spellCheck={false} />}
      </Field>
      <Field label="Key inside of it" param="secret_key" hint="Empty: the whole secret.">
        {(tie) => <Input {...tie} {...form.register('key')} spellCheck={false} />}
      </Field>
      <Field label="Version" param="secret_version" hint="Empty: the current one.">
        {(tie) => <Input {...tie} {...form.register('version')} spellCheck={false} />}
      </Field>
    </div>
  );
}

async function create(
  body: Parameters<typeof createSecretReference>[0]['body'],
  idempotency: ReturnType<typeof useIdempotency>,
): Promise<string> {
  return (await createSecretReference({ body, headers: idempotency(body), throwOnError: true })).data.id;
}

function valuesOf(reference: SecretReference | undefined): Values {
  const manager = reference?.manager_type ?? NEW_MANAGERS[0];
  const known = managerOf(manager);
  const stored = reference?.auth_config ?? {};
  const fields = Object.values(known.variants).flatMap(({ fields: all }) => all.map(({ name }) => name));
  return {
    name: reference?.name ?? '',
    manager,
    variant: stored[known.prefix + known.discriminator] ?? firstVariantOf(known),
    path: reference?.secret_path ?? '',
    key: reference?.secret_key ?? '',
    version: reference?.secret_version ?? '',
    workspaces: reference?.allowed_workspaces ?? [],
    credentials: Object.fromEntries(fields.map((name) => [name, stored[known.prefix + name] ?? ''])),
  };
}

function fieldsOf(values: Values, reference: SecretReference | undefined) {
  const { name, path, key, version } = values;
  return {
    name: name.trim(),
    auth_config: credentialsOf(values, reference),
    secret_path: path.trim(),
    secret_key: key === '' ? null : key,
    secret_version: version === '' ? null : version,
  };
}

/** A reference that no workspace may use stays so, unless someone chooses. */
function isOtherChoice(workspaces: readonly string[], reference: SecretReference | undefined): boolean {
  const before = reference?.allowed_workspaces ?? [];
  return workspaces.length !== before.length || workspaces.some((id) => !before.includes(id));
}

function firstVariantOf({ variants }: NamedManager): string {
  return Object.keys(variants)[0] ?? '';
}

/** What the variant needs; null for what is stored and not needed any more. */
function credentialsOf({ manager, variant, credentials }: Values, reference: SecretReference | undefined) {
  const { prefix, discriminator, variants } = managerOf(manager);
  const needed = variants[variant]?.fields ?? [];
  const given = needed.flatMap(({ name, isSecret }): (readonly [string, string | null])[] => {
    const text = credentials[name]?.trim() ?? '';
    if (text !== '') return [[prefix + name, text]];
    return isSecret || reference === undefined ? [] : [[prefix + name, null]];
  });
  const kept = new Set([discriminator, 'external_id', ...needed.map(({ name }) => name)].map((name) => prefix + name));
  const stored = Object.keys(reference?.auth_config ?? {}).map((name) => name.replace(/^masked_/, ''));
  const dropped = stored.filter((name) => !kept.has(name)).map((name) => [name, null] as const);
  return { [prefix + discriminator]: variant, ...Object.fromEntries([...given, ...dropped]) };
}
