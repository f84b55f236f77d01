import { cva, type VariantProps } from 'class-variance-authority';
import { type ComponentProps, type MouseEvent, useLayoutEffect, useRef } from 'react';
import { cn } from '../../lib/cn';
import { type Sent, useOnce } from '../../lib/once';

/** Also for links that look like a button. */
export const buttonLook = cva(
  'inline-flex items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-60',
  {
    variants: {
      kind: {
        main: 'bg-accent text-accent-text hover:opacity-90',
        plain: 'border border-line bg-surface hover:bg-raised',
        quiet: 'hover:bg-raised',
        danger: 'border border-bad text-bad hover:bg-bad hover:text-surface',
      },
      size: { normal: 'h-9 px-3', small: 'h-7 px-2 text-xs', icon: 'size-9' },
    },
    defaultVariants: { kind: 'plain', size: 'normal' },
  },
);

type ButtonProps = ComponentProps<'button'> & VariantProps<typeof buttonLook>;

export function Button({ kind, size, className, disabled = false, type = 'button', onClick, ...rest }: ButtonProps) {
  const ref = useFocusBack(disabled);
  return (
    <button
      ref={ref}
      type={type}
      className={cn(buttonLook({ kind, size }), className)}
      disabled={disabled}
      onClick={(event) => {
        if (type === 'submit' && isSecond(event)) event.preventDefault();
        else onClick?.(event);
      }}
      {...rest}
    />
  );
}

type SendButtonProps = Omit<ButtonProps, 'disabled' | 'onClick' | 'type'> & {
  readonly sent: Sent;
  readonly onSend: () => unknown;
};

/** Sends something outside a form, once for the two clicks of a double click. */
export function SendButton({ sent, onSend, ...rest }: SendButtonProps) {
  const once = useOnce(sent);
  return <Button disabled={sent.isPending} onClick={(event) => !isSecond(event) && void once(onSend)} {...rest} />;
}

/** Whether it is the second click of a double click: the first one may have been answered by then. */
function isSecond({ detail }: MouseEvent): boolean {
  return detail > 1;
}

/** A button that is disabled while it works loses the focus to nothing: it gets it back. */
function useFocusBack(isDisabled: boolean) {
  const ref = useRef<HTMLButtonElement>(null);
  const hadFocus = useRef(false);
  useLayoutEffect(() => {
    if (isDisabled) hadFocus.current = document.activeElement === ref.current;
    else if (hadFocus.current && document.activeElement === document.body) ref.current?.focus();
  }, [isDisabled]);
  return ref;
}
