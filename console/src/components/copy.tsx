import { Check, Copy as CopyIcon } from 'lucide-react';
import { useState } from 'react';
import { Button } from './ui/button';

/** A text with a button that copies it. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div className="flex items-start rounded-md border border-line bg-raised">
      <pre
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
