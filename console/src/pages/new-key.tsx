import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { createApiKey } from '../api/sdk.gen';
import type { Scope } from '../api/types.gen';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { useUsable, WorkspaceField } from '../components/workspace-field';
import { inWorkspace } from '../lib/in-workspace';
import { useLogin } from '../lib/login-context';
import { useVirtualKeys } from '../lib/whole';
import { KeySnippets } from './key-snippets';

const DAY_SECONDS = 86_400;

/** What a key is for, in place of a list of scopes. A key grants no more than its maker has: those that would are not offered. */
const PRESETS: Readonly<Record<string, { readonly title: string; readonly scopes: readonly Scope[] | 'all' }>> = {
  app: { title: 'An application that calls models', scopes: ['completions.write'] },
  jobs: {
    title: 'An application with batches and fine-tuning too',
    scopes: [
      'completions.write',
      'batches.create',
      'batches.read',
      'batches.list',
      'batches.update',
      'fine_tuning.create',
      'fine_tuning.read',
      'fine_tuning.list',
    ],
  },
  mcp: { title: 'An agent that calls MCP servers', scopes: ['mcp.invoke'] },
  agent: { title: 'An agent that calls models and MCP servers', scopes: ['completions.write', 'mcp.invoke'] },
  auditor: {
    title: 'Someone who reads usage and the audit log',
    scopes: ['usage.read', 'logs.list', 'audit_logs.list', 'policies.list', 'policies.read'],
  },
  admin: { title: 'An administrator: everything that you may do', scopes: 'all' },
};

const schema = z.object({
  name: z.string().trim().min(1, 'A key needs a name.').max(255),
  preset: z.string(),
  days: z.enum(['30', '90', '365', 'never']),
  virtualKey: z.string(),
  workspace: z.string(),
});

export function NewKey({ onClose }: { readonly onClose: () => void }) {
  const { caller } = useLogin();
  const presets = Object.entries(PRESETS).filter(
    ([, { scopes }]) => scopes === 'all' || scopes.every((scope) => caller.scopes.includes(scope)),
  );
  const form = useForm({
    resolver: zodResolver(schema),
    defaultValues: { name: '', preset: presets[0]?.[0] ?? '', days: '90' as const, virtualKey: '', workspace: '' },
  });
  const virtualKeys = useVirtualKeys();
  const [workspace, virtualKey] = form.watch(['workspace', 'virtualKey']);
  const usable = useUsable(virtualKeys.data ?? [], workspace);
  // One that another workspace had is not offered, and so not sent.
  const chosen = usable.some(({ slug }) => slug === virtualKey) ? virtualKey : '';
  const created = useMutation({
    mutationFn: async (values: z.output<typeof schema>) => {
      const { name, preset, days } = values;
      const scopes = scopesOf(preset, caller.scopes.filter(isScope));
      const body = {
        name,
        scopes,
        ...placeOf(caller.workspace_id ?? values.workspace),
        expires_at: days === 'never' ? null : Math.floor(Date.now() / 1_000) + Number(days) * DAY_SECONDS,
        ...(values.virtualKey !== '' && { default_virtual_key: values.virtualKey }),
      };
      return (await createApiKey({ body, throwOnError: true })).data;
    },
  });
  if (created.isSuccess) {
    return (
      // A dialog of its own, which gets the focus and is read out.
      <Dialog key="ready" title="The key is ready" onClose={onClose}>
        <KeySnippets
          apiKey={created.data.key}
          scopes={scopesOf(created.variables.preset, caller.scopes.filter(isScope))}
        />
      </Dialog>
    );
  }
  return (
    <Dialog title="New API key" onClose={onClose}>
      <Form
        sent={created}
        onSubmit={form.handleSubmit((values) => created.mutate({ ...values, virtualKey: chosen }))}
        action="Create key"
        onClose={onClose}
      >
        <Field label="Name" param="name" error={form.formState.errors.name?.message}>
          {(tie) => <Input {...tie} {...form.register('name')} placeholder="search service" />}
        </Field>
        <Field label="Who will use it" param="scopes">
          {(tie) => (
            <Select {...tie} {...form.register('preset')}>
              {presets.map(([key, { title }]) => (
                <option key={key} value={key}>
                  {title}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <WorkspaceField
          input={form.register('workspace')}
          shared="None: a key of the whole organisation"
          hint="A key of a workspace sees and uses what belongs to it."
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Ends" param="expires_at">
            {(tie) => (
              <Select {...tie} {...form.register('days')}>
                <option value="30">in 30 days</option>
                <option value="90">in 90 days</option>
                <option value="365">in a year</option>
                <option value="never">never</option>
              </Select>
            )}
          </Field>
          <Field
            label="Virtual key of calls that name none"
            param="default_virtual_key"
            hint="For programs that can only send an address and a key."
          >
            {(tie) => (
              <Select {...tie} {...form.register('virtualKey')} value={chosen}>
                <option value="">none</option>
                {usable.map(({ id, slug, name }) => (
                  <option key={id} value={slug}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
      </Form>
    </Dialog>
  );
}

/** @param workspace id or slug; empty: the whole organisation */
function placeOf(workspace: string) {
  return { level: workspace === '' ? 'organisation' : 'workspace', ...inWorkspace(workspace) } as const;
}

function scopesOf(preset: string, own: readonly Scope[]): Scope[] {
  const scopes = PRESETS[preset]?.scopes ?? [];
  return scopes === 'all' ? [...own] : [...scopes];
}

/** The gateway lists the scopes of a caller by their names. */
function isScope(text: string): text is Scope {
  return text.includes('.');
}
