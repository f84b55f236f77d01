import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { listSecretReferencesOptions } from '../api/@tanstack/react-query.gen';
import { createVirtualKey, testVirtualKey } from '../api/sdk.gen';
import type { Provider } from '../api/types.gen';
import { FormFooter } from '../components/form-footer';
import { SavedDialog } from '../components/saved-dialog';
import { useIdempotency } from '../lib/idempotency';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select, TextArea } from '../components/ui/field';
import { inWorkspace, WorkspaceField } from '../components/workspace-field';
import { useLogin } from '../lib/login-context';
import { managerOf } from '../lib/secret-managers';

/** What the form asks for beside the key. Providers with more options are set up through the API. */
type Asked = 'address' | 'key only' | 'place' | 'nothing';

const PROVIDERS: readonly (readonly [Provider, string, Asked])[] = [
  ['openai', 'OpenAI', 'key only'],
  ['anthropic', 'Anthropic', 'key only'],
  ['gemini', 'Google Gemini', 'key only'],
  ['vertex', 'Google Vertex AI', 'place'],
  ['groq', 'Groq', 'key only'],
  ['mistral', 'Mistral', 'key only'],
  ['deepseek', 'DeepSeek', 'key only'],
  ['moonshot', 'Moonshot', 'key only'],
  ['xai', 'xAI', 'key only'],
  ['together', 'Together', 'key only'],
  ['fireworks', 'Fireworks', 'key only'],
  ['openrouter', 'OpenRouter', 'key only'],
  ['cohere', 'Cohere', 'key only'],
  ['voyage', 'Voyage AI', 'key only'],
  ['jina', 'Jina AI', 'key only'],
  ['openai-compatible', 'A server that is compatible with OpenAI', 'address'],
  ['ollama', 'Ollama', 'address'],
  ['vllm', 'vLLM', 'address'],
  ['lm-studio', 'LM Studio', 'address'],
  ['local', 'The built-in reranker', 'nothing'],
];
const KEY_OPTIONAL: ReadonlySet<string> = new Set(['openai-compatible', 'ollama', 'vllm', 'lm-studio', 'local']);

const schema = z
  .object({
    name: z.string().min(1, 'A virtual key needs a name.').max(255),
    slug: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]*$/, 'Lower-case letters, digits, - and _.')
      .or(z.literal('')),
    provider: z.string(),
    key: z.string(),
    reference: z.string(),
    baseUrl: z.string(),
    project: z.string(),
    location: z.string(),
    workspace: z.string(),
  })
  .refine(({ provider, key, reference }) => KEY_OPTIONAL.has(provider) || key !== '' || reference !== '', {
    path: ['key'],
    message: 'The provider needs a key.',
  })
  .refine(({ provider, baseUrl }) => provider !== 'openai-compatible' || baseUrl !== '', {
    path: ['baseUrl'],
    message: 'Where does the server answer?',
  })
  .refine(({ provider, project }) => asks(provider) !== 'place' || project !== '', {
    path: ['project'],
    message: 'Which project pays?',
  })
  .refine(({ provider, location }) => asks(provider) !== 'place' || location !== '', {
    path: ['location'],
    message: 'Where are the models called?',
  });

type Values = z.output<typeof schema>;

export function NewVirtualKey({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const { may } = useLogin();
  const idempotency = useIdempotency();
  const mayRefer = may('secret_references.list') && may('secret_references.use');
  const references = useQuery({
    ...listSecretReferencesOptions({ query: { page_size: 100 } }),
    enabled: mayRefer,
  });
  const form = useForm({
    resolver: zodResolver(schema),
    defaultValues: {
      name: '',
      slug: '',
      provider: 'openai',
      key: '',
      reference: '',
      baseUrl: '',
      project: '',
      location: '',
      workspace: '',
    },
  });
  const created = useMutation({
    mutationFn: async (values: Values) => {
      const { name, slug } = values;
      const [known] = PROVIDERS.find(([id]) => id === values.provider) ?? [];
      if (known === undefined) throw new Error('There is no such provider.');
      const body = {
        name,
        provider: known,
        ...(slug !== '' && { slug }),
        ...inWorkspace(values.workspace),
        ...credentialOf(values),
      };
      const { data } = await createVirtualKey({ body, headers: idempotency(body), throwOnError: true });
      return (await testVirtualKey({ path: { ref: data.id }, body: {}, throwOnError: true })).data;
    },
    onSettled: () => queries.invalidateQueries(),
  });
  if (created.isSuccess) {
    const { ok, reason, provider_message: message, error } = created.data;
    const failure = ok ? undefined : [reason, message ?? error].filter(Boolean).join(': ');
    return (
      <SavedDialog title="The virtual key is saved" failure={failure} onClose={onClose}>
        The provider accepts the key.
      </SavedDialog>
    );
  }
  const { errors } = form.formState;
  const [provider, reference] = form.watch(['provider', 'reference']);
  return (
    <Dialog title="New virtual key" onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => void form.handleSubmit((values) => created.mutate(values))(event)}
      >
        <Field label="Provider">
          {(tie) => (
            <Select {...tie} {...form.register('provider')}>
              {PROVIDERS.map(([id, title]) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" error={errors.name?.message}>
            {(tie) => <Input {...tie} {...form.register('name')} />}
          </Field>
          <Field
            label="Slug"
            error={errors.slug?.message}
            hint="Calls name it. Without one, the gateway makes it from the name."
          >
            {(tie) => <Input {...tie} {...form.register('slug')} />}
          </Field>
        </div>
        <WorkspaceField input={form.register('workspace')} shared="All workspaces may use it" />
        {asks(provider) === 'address' && (
          <Field
            label="Address of the server"
            error={errors.baseUrl?.message}
            hint="Most end in /v1. Private addresses need the setting EGRESS_ALLOW."
          >
            {(tie) => <Input {...tie} {...form.register('baseUrl')} placeholder="http://127.0.0.1:11434/v1" />}
          </Field>
        )}
        {asks(provider) === 'place' && (
          <div className="grid gap-4 sm:grid-cols-2">
            <Field label="Project" error={errors.project?.message}>
              {(tie) => <Input {...tie} {...form.register('project')} placeholder="my-project" />}
            </Field>
            <Field label="Location" error={errors.location?.message} hint="A region, us, eu or global.">
              {(tie) => <Input {...tie} {...form.register('location')} placeholder="europe-west4" />}
            </Field>
          </div>
        )}
        {asks(provider) !== 'nothing' && mayRefer && (
          <Field label="Where the key is" hint="A referenced key stays in the secret manager, and is read there.">
            {(tie) => (
              <Select {...tie} {...form.register('reference')}>
                <option value="">I type it here</option>
                {references.data?.data.map(({ id, name, manager_type: manager }) => (
                  <option key={id} value={id}>
                    {name} ({managerOf(manager).title})
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        {asks(provider) === 'place' && reference === '' && (
          <Field
            label="Credentials file"
            error={errors.key?.message}
            hint="The JSON of a service account's key, or of an external account. It is stored encrypted."
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
        {(asks(provider) === 'address' || asks(provider) === 'key only') && reference === '' && (
          <Field
            label="Key of the provider"
            error={errors.key?.message}
            hint="It is stored encrypted, and shown masked."
          >
            {(tie) => <Input {...tie} {...form.register('key')} type="password" autoComplete="off" />}
          </Field>
        )}
        <FormFooter sent={created} action="Save and test" onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** The key, or where it is, and the options of the provider. */
function credentialOf({ provider, key, reference, baseUrl, project, location }: Values) {
  const isOfPlace = asks(provider) === 'place';
  const place = isOfPlace && { google_project: project, google_location: location };
  const address = asks(provider) === 'address' && baseUrl !== '' && { base_url: baseUrl };
  const file = isOfPlace && reference === '' && { google_credentials: key };
  const config = { ...place, ...address, ...file };
  const target = isOfPlace ? 'config.google_credentials' : 'key';
  return {
    ...(Object.keys(config).length > 0 && { config }),
    ...(!isOfPlace && reference === '' && key !== '' && { key }),
    ...(reference !== '' && { secret_mappings: [{ target_field: target, secret_reference_id: reference }] }),
  };
}

function asks(provider: string): Asked {
  return PROVIDERS.find(([id]) => id === provider)?.[2] ?? 'key only';
}
