const ADDRESS = /^https?:\/\/\S+/;

/** Where a fact is from: an address as a link with the name of its host, other words as they are. */
export function SourceNote({ source }: { readonly source: string }) {
  const address = ADDRESS.exec(source)?.[0];
  if (address === undefined) return <span className="text-xs break-words text-muted">{source}</span>;
  return (
    <span className="text-xs break-words text-muted">
      <a href={address} target="_blank" rel="noreferrer" className="underline">
        {new URL(address).host}
      </a>
      {source.slice(address.length)}
    </span>
  );
}
