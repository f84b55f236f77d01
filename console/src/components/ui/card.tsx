import type { ReactNode } from 'react';
import { cn } from '../../lib/cn';

interface CardProps {
  readonly title?: ReactNode;
  readonly side?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

export function Card({ title, side, className, children }: CardProps) {
  return (
    <section className={cn('rounded-lg border border-line bg-surface', className)}>
      {title !== undefined && (
        <header className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-3">
          <h2 className="font-semibold">{title}</h2>
          {side}
        </header>
      )}
      {children}
    </section>
  );
}
