import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { retrieveLogBodiesOptions } from '../api/@tanstack/react-query.gen';
import type { LoggedBody, RequestLog } from '../api/types.gen';
import { Code } from '../components/code';
import { ErrorNote } from '../components/states';
import { Button } from '../components/ui/button';
import { counted, dateTime } from '../lib/format';

/** What was sent and answered in a call. Read when asked for, since each read is in the audit log. */
export function CallBodies({ call }: { readonly call: RequestLog }) {
  const [isWanted, setIsWanted] = useState(false);
  const bodies = useQuery({
    ...retrieveLogBodiesOptions({ path: { id: call.id } }),
    enabled: isWanted,
    staleTime: Infinity,
    // Each read is in the audit log.
    meta: { isOnce: true },
    retry: false,
  });
  if (call.bodies_until === null) return null;
  return (
    <section aria-label="Bodies" aria-live="polite" className="space-y-3 border-t border-line pt-4">
      <p className="text-xs text-muted">
        What was sent and answered is kept until {dateTime(call.bodies_until)}. The audit log has who reads it.
      </p>
      {!isWanted && (
        <Button size="small" onClick={() => setIsWanted(true)}>
          Show what was sent and answered
        </Button>
      )}
      {bodies.isError && <ErrorNote error={bodies.error} onRetry={() => void bodies.refetch()} />}
      {bodies.data !== undefined && (
        <>
          <Body title="Sent" body={bodies.data.request} />
          <Body title="Answered" body={bodies.data.response} />
        </>
      )}
    </section>
  );
}

function Body({ title, body }: { readonly title: string; readonly body: LoggedBody | null }) {
  if (body === null) return <p className="text-muted">{title}: nothing, or a file.</p>;
  return (
    <div className="space-y-1">
      <p className="flex flex-wrap gap-x-2">
        <span className="font-medium">{title}</span>
        <span className="text-xs wrap-anywhere text-muted">
          {[body.content_type, counted(body.bytes, 'byte'), body.truncated && 'its beginning', nameOf(body)]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </p>
      <Code label={title} text={readable(body)} />
    </div>
  );
}

function nameOf({ encoding }: LoggedBody): string | false {
  return encoding === 'base64' && 'in base64';
}

/** JSON with its lines; everything else as it came. */
function readable({ content, encoding, truncated }: LoggedBody): string {
  if (encoding === 'base64' || truncated) return content;
  try {
    return JSON.stringify(JSON.parse(content), null, 2);
  } catch {
    return content;
  }
}
