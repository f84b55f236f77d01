import { Fragment } from 'react';
import { cn } from '../lib/cn';

/** An address; a long one goes on in the next line after a slash, where that is enough. */
export function Url({ url, className }: { readonly url: string; readonly className?: string }) {
  const parts = url.split(/(?<=\/)/);
  return (
    <span className={cn('font-mono text-xs wrap-anywhere', className)}>
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}
