import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Where typing begins. */
const FIRST_FIELD = 'form :is(input, select, textarea)';

/** A modal dialog. The browser's own element keeps the focus inside and closes it with Escape. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const opener = document.activeElement;
    ref.current?.showModal();
    ref.current?.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
    // Without a call of close(), the browser does not give the focus back. After one, it may be elsewhere by now.
    return () => {
      if (opener instanceof HTMLElement && document.activeElement === document.body) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={heading}
      onClose={onClose}
      className="m-auto w-[min(40rem,calc(100vw-2rem))] rounded-lg border border-line bg-surface p-0 text-text"
    >
      <header className="flex items-center justify-between gap-2 border-b border-line px-5 py-3">
        <h2 id={heading} className="text-base font-semibold">
          {title}
        </h2>
        <Button kind="quiet" size="icon" className="shrink-0" aria-label="Close" onClick={() => ref.current?.close()}>
          <X aria-hidden className="size-4" />
        </Button>
      </header>
      {/* A field that gets the focus is not left behind the buttons at the foot. */}
      <div className="max-h-[75vh] scroll-pb-20 space-y-4 overflow-y-auto px-5 py-4">{children}</div>
    </dialog>
  );
}
