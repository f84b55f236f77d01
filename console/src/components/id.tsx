/** An id on one line: its beginning where there is little room, and all of it under the pointer and in a selection. */
export function Id({ id }: { readonly id: string }) {
  return (
    <span title={id} className="block max-w-32 truncate font-mono text-xs text-muted xl:max-w-72">
      {id}
    </span>
  );
}
