import type { ReactNode } from 'react';
import { cn } from '../../lib/cn';

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

const TONES: Readonly<Record<Tone, string>> = {
  good: 'border-good text-good',
  warn: 'border-warn text-warn',
  bad: 'border-bad text-bad',
  plain: 'border-line text-muted',
};

/** A state in a word; its colour repeats what the word says. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span className={cn('inline-block rounded-full border px-2 py-0.5 text-xs whitespace-nowrap', TONES[tone])}>
      {children}
    </span>
  );
}
