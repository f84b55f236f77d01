import type { UseFormReturn } from 'react-hook-form';
import { Field, Input, Select } from '../components/ui/field';
import { ANY, CONDITIONS, GROUPS, type LimitInputs, type LimitValues } from '../lib/limit-values';
import { keyInWords } from '../lib/limit-words';
import { ConditionValue } from './condition-value';

interface LimitFieldsProps {
  readonly form: UseFormReturn<LimitInputs, unknown, LimitValues>;
}

/** What the limit counts, up to which cap, and when it starts again. */
export function CapFields({ form }: LimitFieldsProps) {
  const { errors } = form.formState;
  const [type, reset] = form.watch(['type', 'reset']);
  return (
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
  );
}

/** Which calls the limit counts, and by what it groups them. */
export function ScopeFields({ form }: LimitFieldsProps) {
  const condition = form.watch('condition');
  return (
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
      <ConditionValue
        condition={condition}
        input={form.register('value')}
        error={form.formState.errors.value?.message}
      />
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
  );
}

/** What happens at the cap, and when the gateway warns before it. */
export function EnforcementFields({ form }: LimitFieldsProps) {
  const [type, enforcement] = form.watch(['type', 'enforcement']);
  return (
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
  );
}
