import { Check, Copy as CopyIcon } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button } from './ui/button';

/** A text with a button that copies it. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const box = useRef<HTMLPreElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    // Browsers let pages copy on https and on this machine only: elsewhere the person copies what is selected.
    if (!window.isSecureContext) {
      if (box.current !== null) window.getSelection()?.selectAllChildren(box.current);
      return;
    }
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div className="flex items-start rounded-md border border-line bg-raised">
      <pre
        ref={box}
        tabIndex={0}
        aria-label={label}
        className="min-w-0 flex-1 overflow-x-auto p-3 font-mono text-xs whitespace-pre"
      >
        {text}
      </pre>
      <Button
        kind="quiet"
        size="icon"
        className="m-0.5 shrink-0"
        aria-label={isCopied ? 'Copied' : `Copy: ${label}`}
        onClick={() => void copy()}
      >
        {isCopied ? <Check aria-hidden className="size-4" /> : <CopyIcon aria-hidden className="size-4" />}
      </Button>
    </div>
  );
}
