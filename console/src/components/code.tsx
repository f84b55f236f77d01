/** Text of a program, as it is. */
export function Code({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <pre
      tabIndex={0}
      aria-label={label}
      className="max-h-80 overflow-auto rounded-md bg-raised p-3 font-mono text-xs wrap-anywhere whitespace-pre-wrap"
    >
      {text}
    </pre>
  );
}
