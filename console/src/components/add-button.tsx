import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { Button } from './ui/button';

/** Adds something above itself. It would move behind the buttons at the foot of a form, and stays in sight. */
export function AddButton({ onAdd, children }: { readonly onAdd: () => void; readonly children: ReactNode }) {
  return (
    <Button
      size="small"
      onClick={({ currentTarget }) => {
        flushSync(onAdd);
        currentTarget.scrollIntoView({ block: 'nearest' });
      }}
    >
      <Plus aria-hidden className="size-3.5" />
      {children}
    </Button>
  );
}
