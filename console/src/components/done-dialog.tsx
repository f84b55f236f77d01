import type { ReactNode } from 'react';
import { Button } from './ui/button';
import { Dialog } from './ui/dialog';

interface DoneDialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Says what came of something. */
export function DoneDialog({ title, onClose, children }: DoneDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <footer className="flex justify-end">
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}
