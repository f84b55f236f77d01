import { type ComponentProps, type ReactNode, useContext, useId } from 'react';
import { cn } from '../../lib/cn';
import { FieldMessages } from '../../lib/refusal';

const BOX = 'w-full rounded-md border border-edge bg-surface px-3 placeholder:text-muted aria-invalid:border-bad';

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={cn(BOX, 'h-9', className)} {...rest} />;
}

export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select className={cn(BOX, 'h-9', className)} {...rest} />;
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={cn(BOX, 'py-2', className)} {...rest} />;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Where the gateway finds the value in the body of the request: what it refuses there stands at this field. */
  readonly param?: string;
  /** The control, with the attributes that tie it to its label and messages. */
  readonly children: (tie: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ReactNode;
}

/** A control with its label, a hint and what is wrong with its value. */
export function Field({ label, hint, error: own, param, children }: FieldProps) {
  const error = useMessage(own, param);
  const id = useId();
  const note = `${id}-note`;
  const hasNote = hint !== undefined || error !== undefined;
  return (
    <div className="space-y-1" data-param={param}>
      <label htmlFor={id} className="block font-medium">
        {label}
      </label>
      {children({
        id,
        ...(hasNote && { 'aria-describedby': note }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      {hasNote && (
        <p id={note} className={cn('text-xs', error === undefined ? 'text-muted' : 'text-bad')}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

interface FieldSetProps {
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly param?: string;
  readonly children: ReactNode;
}

/** Controls that make one value together, with a hint and what is wrong with it. */
export function FieldSet({ legend, hint, error: own, param, children }: FieldSetProps) {
  const error = useMessage(own, param);
  const note = `${useId()}-note`;
  return (
    <fieldset className="space-y-2" data-param={param} aria-describedby={error === undefined ? undefined : note}>
      <legend className="font-medium">{legend}</legend>
      {hint !== undefined && <p className="text-xs text-muted">{hint}</p>}
      {children}
      {error !== undefined && (
        <p id={note} role="alert" className="text-xs text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}

/** What the form itself finds wrong, or else what the gateway refused. */
function useMessage(own: string | undefined, param: string | undefined): string | undefined {
  const messages = useContext(FieldMessages);
  return own ?? (param === undefined ? undefined : messages.get(param));
}
