import type { UseMutationResult } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { type Sent, useOnce } from '../lib/once';
import { FieldMessages, NO_REFUSAL, refusalOf } from '../lib/refusal';
import { ErrorNote } from './states';
import { Button } from './ui/button';

const CONTROL = 'input, select, textarea, button';

interface FormProps {
  readonly sent: Sent & Pick<UseMutationResult, 'error'>;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => Promise<void>;
  /** What the form does. */
  readonly action: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/**
 * A form in a dialog. What the gateway refuses stands at the field that sends it, until the field is changed; the rest stands at
 * the foot, above the buttons, which stay in sight.
 */
export function Form({ sent, onSubmit, action, onClose, children }: FormProps) {
  const ref = useRef<HTMLFormElement>(null);
  const note = useRef<HTMLDivElement>(null);
  const once = useOnce(sent);
  const [{ error, atFields, rest }, setRefusal] = useState(NO_REFUSAL);
  useLayoutEffect(() => {
    const fields = ref.current?.querySelectorAll<HTMLElement>('[data-param]') ?? [];
    const params = Array.from(fields, ({ dataset }) => dataset['param'] ?? '');
    setRefusal(refusalOf(sent.error, params));
  }, [sent.error]);
  // Only after an answer: a message that goes must not move the focus.
  useLayoutEffect(() => {
    if (error === null) return;
    const fields = ref.current?.querySelectorAll<HTMLElement>('[data-param]') ?? [];
    const wrong = [...fields].filter(({ dataset }) => atFields.has(dataset['param'] ?? ''));
    for (const field of wrong) field.closest('details')?.setAttribute('open', '');
    if (wrong[0] === undefined) note.current?.scrollIntoView({ block: 'nearest' });
    else wrong[0].querySelector<HTMLElement>(CONTROL)?.focus();
  }, [error]);
  const forget = (target: EventTarget): void => {
    const param = target instanceof Element && target.closest<HTMLElement>('[data-param]')?.dataset['param'];
    if (typeof param !== 'string' || !atFields.has(param)) return;
    setRefusal({ error, rest, atFields: new Map([...atFields].filter(([field]) => field !== param)) });
  };
  return (
    <FieldMessages value={atFields}>
      <form
        ref={ref}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void once(() => onSubmit(event));
        }}
        onChange={({ target }) => forget(target)}
        onClick={({ target }) => target instanceof Element && target.closest('button') && forget(target)}
      >
        {children}
        {error !== null && rest !== undefined && (
          <div ref={note}>
            <ErrorNote error={error} message={rest} />
          </div>
        )}
        <footer className="sticky -bottom-4 -mx-5 -mb-4 flex justify-end gap-2 border-t border-line bg-surface px-5 py-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="main" type="submit" disabled={sent.isPending}>
            {action}
          </Button>
        </footer>
      </form>
    </FieldMessages>
  );
}
