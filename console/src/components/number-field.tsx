import { Field, Input } from './ui/field';

interface NumberFieldProps {
  readonly label: string;
  readonly param: string;
  readonly hint: string;
  readonly min: number;
  readonly max?: number;
  readonly step?: 'any';
  readonly isRequired?: boolean;
  /** As it was typed. */
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export function NumberField({ label, param, hint, isRequired, value, onChange, ...bounds }: NumberFieldProps) {
  return (
    <Field label={label} param={param} hint={hint}>
      {(tie) => (
        <Input
          {...tie}
          {...bounds}
          type="number"
          required={isRequired}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
