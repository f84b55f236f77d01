import type { ReactNode } from 'react';
import { DoneDialog } from './done-dialog';

interface SavedDialogProps {
  readonly title: string;
  /** Why the test failed; undefined: it did not. */
  readonly failure: string | undefined;
  readonly onClose: () => void;
  /** What the test has shown. */
  readonly children: ReactNode;
}

/** What the test of a resource says that a form has saved. */
export function SavedDialog({ title, failure, onClose, children }: SavedDialogProps) {
  return (
    <DoneDialog title={title} onClose={onClose}>
      {failure === undefined ? (
        <p className="text-good">{children}</p>
      ) : (
        <p className="wrap-anywhere text-bad">The test failed: {failure}</p>
      )}
    </DoneDialog>
  );
}
