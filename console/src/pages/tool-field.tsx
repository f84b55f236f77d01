import { Field, Input, Select, TextArea } from '../components/ui/field';
import type { FormField } from '../lib/schema-form';

interface ToolFieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
}

/** A longer one is not read. */
const MAX_EXAMPLE = 400;

/** One argument of a tool. */
export function ToolField({ field, value, error, onChange }: ToolFieldProps) {
  const { title, isRequired } = field;
  return (
    <Field label={isRequired ? title : `${title} (optional)`} hint={hintOf(field)} error={error}>
      {(tie) => {
        const common = { ...tie, value, required: isRequired };
        switch (field.kind) {
          case 'choice':
          case 'boolean':
            return (
              <Select {...common} onChange={({ target }) => onChange(target.value)}>
                <option value="">{isRequired ? 'Choose one' : 'Leave it out'}</option>
                {(field.kind === 'boolean' ? ['true', 'false'] : [...field.choices.keys()]).map((choice) => (
                  <option key={choice}>{choice}</option>
                ))}
              </Select>
            );
          case 'number':
          case 'integer':
            // A field of the type number is empty while it holds something else, and the argument would be left out.
            return <Input {...common} inputMode="decimal" onChange={({ target }) => onChange(target.value)} />;
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

function hintOf({ kind, hint, isRequired, isNullable, example }: FormField): string | undefined {
  const empty = isRequired && isNullable ? 'Empty: null.' : undefined;
  return [hint, formOf(kind, example), empty].filter(Boolean).join(' ') || undefined;
}

function formOf(kind: FormField['kind'], example: unknown): string | undefined {
  if (kind === 'list') {
    const [first] = Array.isArray(example) ? example : [];
    return typeof first === 'string' && first !== ''
      ? `One item on each line, such as ${first}.`
      : 'One item on each line.';
  }
  if (kind !== 'json') return undefined;
  const text = JSON.stringify(example);
  return ['{}', '[]'].includes(text) || text.length > MAX_EXAMPLE ? 'As JSON.' : `As JSON, such as ${text}`;
}
