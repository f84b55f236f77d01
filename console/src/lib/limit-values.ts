import { z } from 'zod';
import type { CreateUsageLimitRequest } from '../api/types.gen';
import { inWorkspace } from './in-workspace';

export const CONDITIONS = ['model', 'provider', 'virtual_key', 'api_key', 'workspace_id', 'endpoint'] as const;
export const GROUPS = ['api_key', 'workspace_id', 'model', 'metadata._user'] as const;

/** As conditions write it. */
export const ANY = '*';

const MAX_DAYS = 365;
const WEEK_DAYS = 7;
const MONTH_DAYS = 30;

const fields = z.object({
  name: z.string().trim().min(1, 'A limit needs a name.').max(255),
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

/** What of a limit can be changed. */
export const changeable = fields.pick({ name: true, credit_limit: true, alert: true });

/** As the form has them. */
export type LimitInputs = z.input<typeof fields>;
export type LimitValues = z.output<typeof fields>;

export const NEW_LIMIT: LimitInputs = {
  name: '',
  type: 'cost',
  credit_limit: '',
  reset: 'monthly',
  days: '1',
  condition: 'model',
  value: ANY,
  group: 'api_key',
  // A limit that refuses calls at once surprises people.
  enforcement: 'monitor',
  alert: '',
  workspace: '',
};

/** @param mustPlace whether the limit must be of one workspace: only a key may make limits of the whole organisation */
export function schemaOf(mustPlace: boolean) {
  return fields
    .refine(({ reset, days }) => reset !== 'days' || isPeriod(days), {
      path: ['days'],
      message: `A whole number from 1 to ${MAX_DAYS}.`,
    })
    .refine(({ workspace }) => !mustPlace || workspace !== '', {
      path: ['workspace'],
      message: 'Choose the workspace whose calls the limit counts.',
    });
}

export function newLimit(values: LimitValues): CreateUsageLimitRequest {
  const { condition, value, group, reset, days, workspace, alert, ...rest } = values;
  return {
    ...rest,
    ...inWorkspace(workspace),
    conditions: [{ key: condition, value }],
    group_by: [{ key: group }],
    ...(alert !== '' && { alert_threshold: Number(alert) }),
    ...(reset === 'days'
      ? { periodic_reset_days: Number(days) }
      : { periodic_reset: reset === 'never' ? null : reset }),
  };
}

/** How many days the preview looks back. */
export function previewDays({ reset, days }: Pick<LimitInputs, 'reset' | 'days'>): number {
  if (reset === 'weekly') return WEEK_DAYS;
  return reset === 'days' && isPeriod(days) ? Number(days) : MONTH_DAYS;
}

function isPeriod(days: string): boolean {
  return Number.isInteger(Number(days)) && Number(days) >= 1 && Number(days) <= MAX_DAYS;
}
