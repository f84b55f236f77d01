import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { z } from 'zod';
import { createPrice } from '../api/sdk.gen';
import { Form } from '../components/form';
import { Dialog } from '../components/ui/dialog';
import { Field, Input, Select } from '../components/ui/field';
import { isOfTokens, isPricedUnit, perToken, UNITS } from '../lib/price';
import { isProvider, PROVIDERS } from '../lib/providers';

const schema = z.object({
  provider: z.string(),
  model: z.string().trim().min(1, 'Which model?').max(512),
  unit: z.string(),
  price: z.string().regex(/^\d{1,12}(\.\d{1,12})?$/, 'A number of dollars, such as 0.15.'),
});

/** Sets a price of the organisation from now on. Prices never change: a newer one takes the place of this one. */
export function NewPrice({ onClose }: { readonly onClose: () => void }) {
  const form = useForm({
    resolver: zodResolver(schema),
    defaultValues: { provider: 'openai', model: '', unit: 'input', price: '' },
  });
  const created = useMutation({
    meta: { done: 'The price is set.' },
    mutationFn: async ({ provider, model, unit, price }: z.output<typeof schema>) => {
      if (!isProvider(provider) || !isPricedUnit(unit)) throw new Error('There is no such provider or unit.');
      const body = { provider, model, unit, price: isOfTokens(unit) ? perToken(price) : price };
      return createPrice({ body, throwOnError: true });
    },
    onSuccess: onClose,
  });
  const { errors } = form.formState;
  const unit = form.watch('unit');
  return (
    <Dialog title="New price" onClose={onClose}>
      <Form
        sent={created}
        onSubmit={form.handleSubmit((values) => created.mutate(values))}
        action="Set price"
        onClose={onClose}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Provider" param="provider">
            {(tie) => (
              <Select {...tie} {...form.register('provider')}>
                {Object.entries(PROVIDERS).map(([slug, name]) => (
                  <option key={slug} value={slug}>
                    {name}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field
            label="Model"
            param="model"
            error={errors.model?.message}
            hint="A * at the end stands for any rest of the name."
          >
            {(tie) => <Input {...tie} {...form.register('model')} spellCheck={false} />}
          </Field>
          <Field label="What is priced" param="unit">
            {(tie) => (
              <Select {...tie} {...form.register('unit')}>
                {Object.entries(UNITS).map(([name, words]) => (
                  <option key={name} value={name}>
                    {words}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field
            label={isOfTokens(unit) ? 'Dollars for a million' : 'Dollars for one'}
            param="price"
            error={errors.price?.message}
          >
            {(tie) => <Input {...tie} {...form.register('price')} inputMode="decimal" placeholder="0.15" />}
          </Field>
        </div>
        <p className="text-muted">
          The price counts from now on, before the built-in one. It cannot be changed; a newer price takes its place. A
          model with a price of your own has none of the built-in ones: set all its units.
        </p>
      </Form>
    </Dialog>
  );
}
