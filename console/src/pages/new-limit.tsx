import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { createUsageLimit } from '../api/sdk.gen';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { inWorkspace, WorkspaceField } from '../components/workspace-field';
import { keyInWords } from '../lib/limit-words';
import { useLogin } from '../lib/login-context';
import { ConditionValue } from './condition-value';
import { LimitPreview } from './limit-preview';

const CONDITIONS = ['model', 'provider', 'virtual_key', 'api_key', 'workspace_id', 'endpoint'] as const;
const GROUPS = ['api_key', 'workspace_id', 'model', 'metadata._user'] as const;

/** As conditions write it. */
const ANY = '*';

const schema = z.object({
  name: z.string().min(1, 'A limit needs a name.').max(255),
  type: z.enum(['cost', 'tokens']),
  credit_limit: z.coerce.number().positive('The cap must be more than 0.'),
  reset: z.enum(['monthly', 'weekly', 'never']),
  condition: z.enum(CONDITIONS),
  value: z.string().min(1, 'Name a value, or * for all.'),
  group: z.enum(GROUPS),
  enforcement: z.enum(['strict', 'monitor']),
  alert: z.string(),
  workspace: z.string(),
});

/** Only a key may make limits of the whole organisation. */
const placedSchema = schema.refine(({ workspace }) => workspace !== '', {
  path: ['workspace'],
  message: 'Choose the workspace whose calls the limit counts.',
});

/** Makes a limit, and shows beside it what it would have done to the calls of the last days. */
export function NewLimit({ onClose }: { readonly onClose: () => void }) {
  const { caller } = useLogin();
  const mustPlace = caller.type !== 'api_key' && caller.workspace_id === null;
  const form = useForm({
    resolver: zodResolver(mustPlace ? placedSchema : schema),
    defaultValues: {
      name: '',
      type: 'cost' as const,
      credit_limit: '',
      reset: 'monthly' as const,
      condition: 'model' as const,
      value: ANY,
      group: 'api_key' as const,
      enforcement: 'monitor' as const,
      alert: '',
      workspace: '',
    },
  });
  const created = useMutation({
    meta: { done: 'The limit is created.' },
    mutationFn: ({ condition, value, group, reset, workspace, alert, ...rest }: z.output<typeof schema>) =>
      createUsageLimit({
        body: {
          ...rest,
          ...inWorkspace(workspace),
          conditions: [{ key: condition, value }],
          group_by: [{ key: group }],
          ...(alert !== '' && { alert_threshold: Number(alert) }),
          periodic_reset: reset === 'never' ? null : reset,
        },
        throwOnError: true,
      }),
    onSuccess: onClose,
  });
  const { errors } = form.formState;
  const [type, enforcement, cap, reset, condition, value, group] = form.watch([
    'type',
    'enforcement',
    'credit_limit',
    'reset',
    'condition',
    'value',
    'group',
  ]);
  return (
    <Dialog title="New limit" onClose={onClose}>
      <Form
        sent={created}
        onSubmit={form.handleSubmit((values) => created.mutate(values))}
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
        <div className="grid gap-4 sm:grid-cols-3">
          <Field label="Counts" param="type">
            {(tie) => (
              <Select {...tie} {...form.register('type')}>
                <option value="cost">Cost in dollars</option>
                <option value="tokens">Tokens</option>
              </Select>
            )}
          </Field>
          <Field
            label={type === 'cost' ? 'Cap in dollars' : 'Cap in tokens'}
            param="credit_limit"
            error={errors.credit_limit?.message}
          >
            {(tie) => <Input {...tie} {...form.register('credit_limit')} type="number" min={0} step="any" />}
          </Field>
          <Field label="Starts again" param="periodic_reset">
            {(tie) => (
              <Select {...tie} {...form.register('reset')}>
                <option value="monthly">every month</option>
                <option value="weekly">every week</option>
                <option value="never">never</option>
              </Select>
            )}
          </Field>
        </div>
        <div className="grid gap-4 sm:grid-cols-3">
          <Field label="For calls whose" param="conditions">
            {(tie) => (
              <Select {...tie} {...form.register('condition', { onChange: () => form.setValue('value', ANY) })}>
                {CONDITIONS.map((key) => (
                  <option key={key} value={key}>
                    {keyInWords(key)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <ConditionValue condition={condition} input={form.register('value')} error={errors.value?.message} />
          <Field label="Counted for each" param="group_by">
            {(tie) => (
              <Select {...tie} {...form.register('group')}>
                {GROUPS.map((key) => (
                  <option key={key} value={key}>
                    {keyInWords(key)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <div className="grid gap-4 sm:grid-cols-3">
          <div className="sm:col-span-2">
            <Field
              label="When the cap is reached"
              param="enforcement"
              hint={
                enforcement === 'monitor'
                  ? 'Nothing is refused. Watch the figures first, then make the limit strict.'
                  : 'A call that does not fit is refused with status 412 before it is sent, and so is one that does not bound its output (max_tokens).'
              }
            >
              {(tie) => (
                <Select {...tie} {...form.register('enforcement')}>
                  <option value="monitor">Monitor first</option>
                  <option value="strict">Refuse calls</option>
                </Select>
              )}
            </Field>
          </div>
          <Field
            label={type === 'cost' ? 'Alert at dollars' : 'Alert at tokens'}
            param="alert_threshold"
            hint="Sends an event to webhooks. Empty: no alert."
          >
            {(tie) => <Input {...tie} {...form.register('alert')} type="number" min={0} step="any" />}
          </Field>
        </div>
        <LimitPreview draft={{ type, cap: Number(cap) || 0, reset, condition, value, group }} />
      </Form>
    </Dialog>
  );
}
