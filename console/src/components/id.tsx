import { cn } from '../lib/cn';
import { useNames } from '../lib/names';

/** Ids of callers of MCP servers begin with the kind of their authentication. */
const KIND = /^api_key:/;

/** A name, or else an id, on one line: its beginning where there is little room, and all of it under the pointer and in a selection. */
export function Id({ id, isLink = false }: { readonly id: string; readonly isLink?: boolean }) {
  const nameIds = useNames([id]);
  const name = nameIds(id).replace(KIND, '');
  return (
    <span
      title={id}
      className={cn(
        'block max-w-28 truncate xl:max-w-48',
        name === id && 'font-mono text-xs',
        name === id && (isLink ? 'text-accent underline' : 'text-muted'),
      )}
    >
      {name}
    </span>
  );
}
