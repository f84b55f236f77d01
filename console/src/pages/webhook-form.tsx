import { useMutation } from '@tanstack/react-query';
import { useForm, type UseFormReturn } from 'react-hook-form';
import { createWebhook, updateWebhook } from '../api/sdk.gen';
import type { WebhookEndpoint } from '../api/types.gen';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, FieldSet, Input, Select } from '../components/ui/field';
import { WorkspaceField } from '../components/workspace-field';
import { differences } from '../lib/differences';
import { inWorkspace } from '../lib/in-workspace';
import { type EventName, EVENTS } from '../lib/webhook-events';
import { WebhookSecret } from './webhook-secret';

interface Values {
  readonly url: string;
  readonly description: string;
  readonly format: string;
  readonly isEnabled: boolean;
  readonly isForAll: boolean;
  readonly events: readonly string[];
  readonly workspace: string;
}

interface WebhookFormProps {
  /** Absent: a new one is made. */
  readonly endpoint?: WebhookEndpoint;
  readonly onClose: () => void;
}

/** Makes or changes a webhook. The secret of a new one is shown once. */
export function WebhookForm({ endpoint, onClose }: WebhookFormProps) {
  const form = useForm<Values>({ defaultValues: valuesOf(endpoint) });
  const saved = useMutation({
    mutationFn: async (values: Values): Promise<string | undefined> => {
      const body = bodyOf(values);
      if (endpoint === undefined) {
        const created = { ...body, ...inWorkspace(values.workspace) };
        return (await createWebhook({ body: created, throwOnError: true })).data.secret;
      }
      const before = valuesOf(endpoint);
      const changed = differences(
        { ...bodyOf(before), enabled: before.isEnabled },
        { ...body, enabled: values.isEnabled },
      );
      await updateWebhook({ path: { id: endpoint.id }, body: changed, throwOnError: true });
      return undefined;
    },
    meta: { done: 'The webhook is saved.' },
    onSuccess: (secret) => secret === undefined && onClose(),
  });
  if (saved.data !== undefined) {
    return <WebhookSecret title="The webhook is ready" secret={saved.data} onClose={onClose} />;
  }
  return (
    <Dialog title={endpoint === undefined ? 'New webhook' : 'Change the webhook'} onClose={onClose}>
      <Form
        sent={saved}
        onSubmit={form.handleSubmit((values) => saved.mutate(values))}
        action={endpoint === undefined ? 'Create webhook' : 'Save'}
        onClose={onClose}
      >
        <Field label="Address" param="url" hint="Private addresses need the setting EGRESS_ALLOW.">
          {(tie) => (
            <Input {...tie} {...form.register('url')} placeholder="https://example.com/hook" type="url" required />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Description" param="description">
            {(tie) => <Input {...tie} {...form.register('description')} maxLength={1024} />}
          </Field>
          <Field label="Form of the events" param="format">
            {(tie) => (
              <Select {...tie} {...form.register('format')}>
                <option value="standard">Signed JSON (Standard Webhooks)</option>
                <option value="slack">Messages for Slack</option>
              </Select>
            )}
          </Field>
        </div>
        {endpoint === undefined && (
          <WorkspaceField input={form.register('workspace')} shared="Events of all workspaces" />
        )}
        <EventFields form={form} />
        {endpoint !== undefined && (
          <label className="flex items-center gap-2">
            <input type="checkbox" className="size-4 shrink-0 accent-accent" {...form.register('isEnabled')} />
            Events are sent
          </label>
        )}
      </Form>
    </Dialog>
  );
}

function EventFields({ form }: { readonly form: UseFormReturn<Values> }) {
  return (
    <FieldSet legend="Events" param="events" error={form.formState.errors.events?.message}>
      <label className="flex items-center gap-2">
        <input type="checkbox" className="size-4 shrink-0 accent-accent" {...form.register('isForAll')} />
        All, also those that come later
      </label>
      {!form.watch('isForAll') && (
        <div className="grid gap-x-4 gap-y-2 sm:grid-cols-2">
          {Object.entries(EVENTS).map(([event, words]) => (
            <label key={event} className="flex items-start gap-2">
              <input
                type="checkbox"
                className="mt-0.5 size-4 shrink-0 accent-accent"
                value={event}
                {...form.register('events', {
                  validate: (events, { isForAll }) => isForAll || events.length > 0 || 'Choose at least one event.',
                })}
              />
              {words}
            </label>
          ))}
        </div>
      )}
    </FieldSet>
  );
}

function valuesOf(endpoint: WebhookEndpoint | undefined): Values {
  const { url = '', description, format = 'standard', enabled = true, events = ['*'] } = endpoint ?? {};
  const isForAll = events.includes('*');
  return {
    url,
    description: description ?? '',
    format,
    isEnabled: enabled,
    isForAll,
    events: isForAll ? [] : events,
    workspace: '',
  };
}

function bodyOf({ url, description, format, isForAll, events }: Values) {
  const known = events.filter((name) => isEvent(name));
  return {
    url: url.trim(),
    description: description.trim() === '' ? null : description.trim(),
    format: format === 'slack' ? ('slack' as const) : ('standard' as const),
    events: isForAll ? ['*' as const] : known,
  };
}

/** An event that has no checkbox here stays chosen. */
function isEvent(name: string): name is EventName {
  return name in EVENTS || name === 'webhook.test';
}
