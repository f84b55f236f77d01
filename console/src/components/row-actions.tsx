import type { ReactNode } from 'react';
import { Button } from './ui/button';

interface RowActionsProps {
  /** Name of the row, for screen readers. */
  readonly of: string;
  /** A link to the page of the row, before the actions. */
  readonly first?: ReactNode;
  /** By their words; those that the caller may not do are undefined. */
  readonly actions: Readonly<Record<string, (() => void) | undefined>>;
}

/** What can be done with a row of a table. */
export function RowActions({ of, first, actions }: RowActionsProps) {
  return (
    <div className="flex flex-wrap gap-1 md:flex-nowrap">
      {first}
      {Object.entries(actions).map(
        ([word, act]) =>
          act !== undefined && (
            <Button key={word} size="small" aria-label={`${word} ${of}`} onClick={act}>
              {word}
            </Button>
          ),
      )}
    </div>
  );
}
