import type { UseMutationResult } from '@tanstack/react-query';
import { ErrorNote } from './states';
import { Button } from './ui/button';

interface FormFooterProps {
  readonly sent: Pick<UseMutationResult, 'error' | 'isPending'>;
  /** What the form does. */
  readonly action: string;
  readonly onClose: () => void;
}

/** The end of a form in a dialog: why it was refused, and its buttons, which stay in sight. */
export function FormFooter({ sent, action, onClose }: FormFooterProps) {
  return (
    <>
      {sent.error !== null && <ErrorNote error={sent.error} />}
      <footer className="sticky -bottom-4 -mx-5 -mb-4 flex justify-end gap-2 border-t border-line bg-surface px-5 py-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main" type="submit" disabled={sent.isPending}>
          {action}
        </Button>
      </footer>
    </>
  );
}
