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
  reset: z.enum(['monthly', 'weekly', 'days', 'never']),
  days: z.string(),
  condition: z.enum(CONDITIONS),
  value: z.string().min(1, 'Name a value, or * for all.'),
  group: z.enum(GROUPS),
  enforcement: z.enum(['strict', 'monitor']),
  alert: z.string(),
  workspace: z.string(),
});

const MAX_DAYS = 365;

const wholeSchema = schema.refine(({ reset, days }) => reset !== 'days' || isPeriod(days), {
  path: ['days'],
  message: `A whole number from 1 to ${MAX_DAYS}.`,
});

/** Only a key may make limits of the whole organisation. */
const placedSchema = wholeSchema.refine(({ workspace }) => workspace !== '', {
  path: ['workspace'],
  message: 'Choose the workspace whose calls the limit counts.',
});

/** Makes a limit, and shows beside it what it would have done to the calls of the last days. */
export function NewLimit({ onClose }: { readonly onClose: () => void }) {
  const { caller } = useLogin();
  const mustPlace = caller.type !== 'api_key' && caller.workspace_id === null;
  const form = useForm({
    resolver: zodResolver(mustPlace ? placedSchema : wholeSchema),
    defaultValues: {
      name: '',
      type: 'cost' as const,
      credit_limit: '',
      reset: 'monthly' as const,
      days: '1',
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
    mutationFn: ({ condition, value, group, reset, days, workspace, alert, ...rest }: z.output<typeof schema>) =>
      createUsageLimit({
        body: {
          ...rest,
          ...inWorkspace(workspace),
          conditions: [{ key: condition, value }],
          group_by: [{ key: group }],
          ...(alert !== '' && { alert_threshold: Number(alert) }),
          ...resetOf(reset, days),
        },
        throwOnError: true,
      }),
    onSuccess: onClose,
  });
  const { errors } = form.formState;
  const [type, enforcement, cap, reset, days, condition, value, group] = form.watch([
    'type',
    'enforcement',
    'credit_limit',
    'reset',
    'days',
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
                <option value="days">after some days</option>
                <option value="never">never</option>
              </Select>
            )}
          </Field>
          {reset === 'days' && (
            <Field
              label="Days until it starts again"
              param="periodic_reset_days"
              error={errors.days?.message}
              hint="At 00:00 UTC."
            >
              {(tie) => <Input {...tie} {...form.register('days')} type="number" min={1} />}
            </Field>
          )}
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
        <LimitPreview draft={{ type, cap: Number(cap) || 0, days: daysOf(reset, days), condition, value, group }} />
      </Form>
    </Dialog>
  );
}

type Reset = z.output<typeof schema>['reset'];

function resetOf(reset: Reset, days: string) {
  if (reset === 'days') return { periodic_reset_days: Number(days) };
  return { periodic_reset: reset === 'never' ? null : reset };
}

function isPeriod(days: string): boolean {
  return Number.isInteger(Number(days)) && Number(days) >= 1 && Number(days) <= MAX_DAYS;
}

const WEEK_DAYS = 7;
const MONTH_DAYS = 30;

/** How many days the preview looks back. */
function daysOf(reset: Reset, days: string): number {
  if (reset === 'weekly') return WEEK_DAYS;
  return reset === 'days' && isPeriod(days) ? Number(days) : MONTH_DAYS;
}
