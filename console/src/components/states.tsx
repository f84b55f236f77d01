import type { ReactNode } from 'react';
import { ApiError, type Failure, messageOf } from '../lib/session';
import { Button } from './ui/button';

/** Not allowed, or missing: a retry would not change that. */
const FINAL: ReadonlySet<number> = new Set([403, 404]);

interface ErrorNoteProps {
  readonly error: Failure;
  /** Absent: that of the error. */
  readonly message?: string;
  readonly onRetry?: () => void;
}

/** What went wrong, in the gateway's own words, with the trace that finds it in the log. */
export function ErrorNote({ error, message = messageOf(error), onRetry }: ErrorNoteProps) {
  const isFinal = error instanceof ApiError && FINAL.has(error.status);
  return (
    <div role="alert" className="m-4 rounded-md border border-bad p-4">
      <p className="font-medium text-bad">{message}</p>
      {error instanceof ApiError && error.traceId !== null && (
        <p className="mt-1 text-xs text-muted">
          {/* Errors of providers may have no code. */}
          {[error.error.code, `trace ${error.traceId}`].filter(Boolean).join(' · ')}
        </p>
      )}
      {onRetry !== undefined && !isFinal && (
        <Button size="small" className="mt-3" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Loading() {
  return (
    <p role="status" className="p-6 text-muted">
      Loading…
    </p>
  );
}

export function Empty({ children }: { readonly children: ReactNode }) {
  return <div className="p-8 text-center text-muted">{children}</div>;
}
