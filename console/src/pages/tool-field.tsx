import { Field, Input, Select, TextArea } from '../components/ui/field';
import type { FormField } from '../lib/schema-form';

interface ToolFieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** One argument of a tool. */
export function ToolField({ field, value, onChange }: ToolFieldProps) {
  const { title, isRequired } = field;
  return (
    <Field label={isRequired ? title : `${title} (optional)`} hint={hintOf(field)}>
      {(tie) => {
        const common = { ...tie, value, required: isRequired };
        switch (field.kind) {
          case 'choice':
          case 'boolean':
            return (
              <Select {...common} onChange={({ target }) => onChange(target.value)}>
                <option value="">{isRequired ? 'Choose one' : 'Leave it out'}</option>
                {(field.kind === 'boolean' ? ['true', 'false'] : field.choices).map((choice) => (
                  <option key={choice}>{choice}</option>
                ))}
              </Select>
            );
          case 'number':
          case 'integer':
            return <Input {...common} type="number" step="any" onChange={({ target }) => onChange(target.value)} />;
          case 'text':
            return (
              <TextArea
                {...common}
                rows={1}
                className="[field-sizing:content]"
                onChange={({ target }) => onChange(target.value)}
              />
            );
          default:
            return (
              <TextArea
                {...common}
                rows={3}
                spellCheck={false}
                className="font-mono text-xs"
                onChange={({ target }) => onChange(target.value)}
              />
            );
        }
      }}
    </Field>
  );
}

function hintOf({ kind, hint }: FormField): string | undefined {
  const form = kind === 'list' ? 'One item on each line.' : kind === 'json' ? 'As JSON.' : undefined;
  return [hint, form].filter(Boolean).join(' ') || undefined;
}
