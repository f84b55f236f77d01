import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import type { z } from 'zod';
import { updateUsageLimit } from '../api/sdk.gen';
import type { UsageLimit } from '../api/types.gen';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, Input } from '../components/ui/field';
import { differences } from '../lib/differences';
import { changeable } from '../lib/limit-values';

type Values = z.output<typeof changeable>;

/** Changes the name, the cap and the alert of a limit. What it counts stays: other groups would begin from nothing. */
export function ChangeLimit({ limit, onClose }: { readonly limit: UsageLimit; readonly onClose: () => void }) {
  const { id, type, slug, name } = limit;
  // The page reads the limit again while this form is open.
  const [before] = useState(() => valuesOf(limit));
  const form = useForm({
    resolver: zodResolver(changeable),
    defaultValues: { ...before, credit_limit: String(before.credit_limit) },
  });
  const saved = useMutation({
    mutationFn: (values: Values) =>
      updateUsageLimit({ path: { ref: id }, body: differences(bodyOf(before), bodyOf(values)), throwOnError: true }),
    onSuccess: onClose,
  });
  const { errors } = form.formState;
  const unit = type === 'cost' ? 'dollars' : 'tokens';
  return (
    <Dialog title={`Change ${name ?? slug}`} onClose={onClose}>
      <Form sent={saved} onSubmit={form.handleSubmit((values) => saved.mutate(values))} action="Save" onClose={onClose}>
        <Field label="Name" param="name" error={errors.name?.message}>
          {(tie) => <Input {...tie} {...form.register('name')} />}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label={`Cap in ${unit}`}
            param="credit_limit"
            error={errors.credit_limit?.message}
            hint="For the running period too. What is used stays used."
          >
            {(tie) => <Input {...tie} {...form.register('credit_limit')} type="number" min={0} step="any" />}
          </Field>
          <Field label={`Alert at ${unit}`} param="alert_threshold" hint="Sends an event to webhooks. Empty: no alert.">
            {(tie) => <Input {...tie} {...form.register('alert')} type="number" min={0} step="any" />}
          </Field>
        </div>
      </Form>
    </Dialog>
  );
}

function valuesOf({ name, slug, credit_limit, alert_threshold: alert }: UsageLimit): Values {
  return { name: name ?? slug, credit_limit, alert: alert?.toString() ?? '' };
}

function bodyOf({ alert, ...fields }: Values) {
  return { ...fields, alert_threshold: alert === '' ? null : Number(alert) };
}
