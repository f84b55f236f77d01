import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { createMcpServer, testMcpServer, updateMcpServer } from '../api/sdk.gen';
import type { CreateMcpServerData, McpServer, UpdateMcpServerData } from '../api/types.gen';
import { Form } from '../components/form';
import { SavedDialog } from '../components/saved-dialog';
import { counted } from '../lib/format';
import { useIdempotency } from '../lib/idempotency';
import { inWorkspace } from '../lib/in-workspace';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { WorkspaceField } from '../components/workspace-field';

const METHODS = {
  none: 'It does not',
  claims_header: 'From a header with claims',
  jwt_header: 'From a header with a signed token',
  bearer: "From the user's own token",
} as const;

const schema = z.object({
  name: z.string().trim().min(1, 'A server needs a name.').max(255),
  slug: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]*$/, 'Lower-case letters, digits, - and _.')
    .or(z.literal('')),
  url: z.url({ protocol: /^https?$/, message: 'Where does the server answer?' }),
  method: z.enum(['none', 'claims_header', 'jwt_header', 'bearer']),
  isEnabled: z.boolean(),
  workspace: z.string(),
});

type Values = z.output<typeof schema>;

interface McpServerFormProps {
  /** Absent: a new one is made. */
  readonly server?: McpServer;
  readonly onClose: () => void;
}

/** Makes or changes a server, and calls it once. What the form does not show stays as it is. */
export function McpServerForm({ server, onClose }: McpServerFormProps) {
  const idempotency = useIdempotency();
  // The page may read the server again while this form is open.
  const [before] = useState(() => valuesOf(server));
  const form = useForm({ resolver: zodResolver(schema), defaultValues: before });
  const create = async (body: CreateMcpServerData['body']): Promise<string> => {
    const { data } = await createMcpServer({ body, headers: idempotency(body), throwOnError: true });
    return data.id;
  };
  const saved = useMutation({
    mutationFn: async (values: Values) => {
      const ref = server?.id ?? (await create(bodyOf(values)));
      if (server !== undefined) {
        await updateMcpServer({ path: { ref }, body: changesOf(before, values), throwOnError: true });
      }
      return (await testMcpServer({ path: { ref }, body: {}, throwOnError: true })).data;
    },
  });
  if (saved.isSuccess) {
    const { ok, reason, error, tools } = saved.data;
    return (
      <SavedDialog title="The server is saved" failure={ok ? undefined : (reason ?? error)} onClose={onClose}>
        It answers, and has {counted(tools ?? 0, 'tool')}.
      </SavedDialog>
    );
  }
  const { errors } = form.formState;
  return (
    <Dialog title={server === undefined ? 'New MCP server' : `Change ${server.name}`} onClose={onClose}>
      <Form
        sent={saved}
        onSubmit={form.handleSubmit((values) => saved.mutate(values))}
        action="Save and test"
        onClose={onClose}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" param="name" error={errors.name?.message}>
            {(tie) => <Input {...tie} {...form.register('name')} />}
          </Field>
          <Field label="Slug" param="slug" error={errors.slug?.message} hint="Part of the address that clients use.">
            {(tie) => <Input {...tie} {...form.register('slug')} disabled={server !== undefined} />}
          </Field>
        </div>
        <Field
          label="Address of the server"
          param="url"
          error={errors.url?.message}
          hint="Private addresses need the setting EGRESS_ALLOW."
        >
          {(tie) => <Input {...tie} {...form.register('url')} placeholder="https://mcp.example.com/mcp" />}
        </Field>
        <Field label="How the server learns who the user is" param="user_identity_forwarding">
          {(tie) => (
            <Select {...tie} {...form.register('method')}>
              {Object.entries(METHODS).map(([method, words]) => (
                <option key={method} value={method}>
                  {words}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {server === undefined ? (
          <WorkspaceField input={form.register('workspace')} shared="All workspaces may use it" />
        ) : (
          <label className="flex items-center gap-2">
            <input type="checkbox" className="size-4 shrink-0 accent-accent" {...form.register('isEnabled')} />
            Clients may call it
          </label>
        )}
      </Form>
    </Dialog>
  );
}

function valuesOf(server: McpServer | undefined): Values {
  return {
    name: server?.name ?? '',
    slug: server?.slug ?? '',
    url: server?.url ?? '',
    method: server?.user_identity_forwarding?.method ?? 'none',
    isEnabled: server?.enabled ?? true,
    workspace: server?.workspace_id ?? '',
  };
}

function bodyOf({ name, slug, url, method, workspace }: Values): CreateMcpServerData['body'] {
  return {
    name,
    url,
    ...inWorkspace(workspace),
    ...(slug !== '' && { slug }),
    ...(method !== 'none' && { user_identity_forwarding: { method } }),
  };
}

/** A change of the forwarding method resets its other settings. */
function changesOf(before: Values, { name, url, method, isEnabled }: Values): UpdateMcpServerData['body'] {
  return {
    ...(name !== before.name && { name }),
    ...(url !== before.url && { url }),
    ...(method !== before.method && { user_identity_forwarding: method === 'none' ? null : { method } }),
    ...(isEnabled !== before.isEnabled && { enabled: isEnabled }),
  };
}
