import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useOnce } from '../lib/once';
import { ErrorNote } from './states';
import { Button } from './ui/button';
import { Dialog } from './ui/dialog';

interface ConfirmProps {
  readonly title: string;
  /** What will no longer work. */
  readonly children: ReactNode;
  readonly action: string;
  /** Whether it would be refused: the text says why. */
  readonly isBlocked?: boolean;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  /** After it is done; absent: the dialog closes. */
  readonly onDone?: () => void;
}

/** Asks before something is lost, and says what that breaks. */
export function Confirm({
  title,
  children,
  action,
  isBlocked = false,
  onConfirm,
  onClose,
  onDone = onClose,
}: ConfirmProps) {
  const confirmed = useMutation({ mutationFn: onConfirm, onSuccess: onDone, meta: { done: `${title}: done.` } });
  const once = useOnce(confirmed);
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="space-y-2">{children}</div>
      {confirmed.isError && <ErrorNote error={confirmed.error} />}
      <footer className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="danger"
          disabled={isBlocked || confirmed.isPending}
          onClick={() => void once(() => confirmed.mutate())}
        >
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
