import { cva, type VariantProps } from 'class-variance-authority';
import type { ComponentProps } from 'react';
import { cn } from '../../lib/cn';

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

export function Button({ kind, size, className, ...rest }: ComponentProps<'button'> & VariantProps<typeof buttonLook>) {
  return <button type="button" className={cn(buttonLook({ kind, size }), className)} {...rest} />;
}
