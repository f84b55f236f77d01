import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { createMcpServer, testMcpServer } from '../api/sdk.gen';
import { FormFooter } from '../components/form-footer';
import { Button } from '../components/ui/button';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { inWorkspace, WorkspaceField } from '../components/workspace-field';

const METHODS = {
  none: 'It does not',
  claims_header: 'From a header with claims',
  jwt_header: 'From a header with a signed token',
  bearer: "From the user's own token",
} as const;

const schema = z.object({
  name: z.string().min(1, 'A server needs a name.').max(255),
  slug: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]*$/, 'Lower-case letters, digits, - and _.')
    .or(z.literal('')),
  url: z.url({ protocol: /^https?$/, message: 'Where does the server answer?' }),
  method: z.enum(['none', 'claims_header', 'jwt_header', 'bearer']),
  workspace: z.string(),
});

export function NewMcpServer({ onClose }: { readonly onClose: () => void }) {
  const queries = useQueryClient();
  const form = useForm({
    resolver: zodResolver(schema),
    defaultValues: { name: '', slug: '', url: '', method: 'none' as const, workspace: '' },
  });
  const created = useMutation({
    mutationFn: async ({ name, slug, url, method, workspace }: z.output<typeof schema>) => {
      const { data } = await createMcpServer({
        body: {
          name,
          url,
          ...inWorkspace(workspace),
          ...(slug !== '' && { slug }),
          ...(method !== 'none' && { user_identity_forwarding: { method } }),
        },
        throwOnError: true,
      });
      return (await testMcpServer({ path: { ref: data.id }, body: {}, throwOnError: true })).data;
    },
    onSettled: () => queries.invalidateQueries(),
  });
  if (created.isSuccess) {
    const { ok, reason, error, tools } = created.data;
    return (
      <Dialog title="The server is saved" onClose={onClose}>
        {ok ? (
          <p className="text-good">It answers, and has {tools ?? 0} tools.</p>
        ) : (
          <p className="text-bad">The test failed: {reason ?? error}</p>
        )}
        <footer className="flex justify-end">
          <Button kind="main" onClick={onClose}>
            Done
          </Button>
        </footer>
      </Dialog>
    );
  }
  const { errors } = form.formState;
  return (
    <Dialog title="New MCP server" onClose={onClose}>
      <form
        className="space-y-4"
        onSubmit={(event) => void form.handleSubmit((values) => created.mutate(values))(event)}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Name" error={errors.name?.message}>
            {(tie) => <Input {...tie} {...form.register('name')} />}
          </Field>
          <Field label="Slug" error={errors.slug?.message} hint="Part of the address that clients use.">
            {(tie) => <Input {...tie} {...form.register('slug')} />}
          </Field>
        </div>
        <Field
          label="Address of the server"
          error={errors.url?.message}
          hint="Private addresses need the setting EGRESS_ALLOW."
        >
          {(tie) => <Input {...tie} {...form.register('url')} placeholder="https://mcp.example.com/mcp" />}
        </Field>
        <Field label="How the server learns who the user is">
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
        <WorkspaceField input={form.register('workspace')} shared="All workspaces may use it" />
        <FormFooter sent={created} action="Save and test" onClose={onClose} />
      </form>
    </Dialog>
  );
}
