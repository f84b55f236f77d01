import type { McpToolCall } from '../api/types.gen';
import { Code } from '../components/code';
import { Badge } from '../components/ui/badge';
import { whole } from '../lib/format';
import { OUTCOMES } from './mcp-outcome';

/** What a tool returned: its texts as they are, everything else as JSON. */
export function ToolAnswer({ answer, traceId }: { readonly answer: McpToolCall; readonly traceId: string | null }) {
  const { outcome, error, content, structured_content: data, latency_ms: ms } = answer;
  const [tone, words] = OUTCOMES[outcome];
  return (
    <section aria-label="Answer of the tool" className="space-y-2 border-t border-line pt-4">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>{words}</Badge>
        <span className="text-xs wrap-anywhere text-muted">
          {whole(ms)} ms{traceId !== null && <> · trace {traceId}</>}
        </span>
      </p>
      {error !== null && (
        <p className="wrap-anywhere text-bad">
          {error.code}: {error.message}
        </p>
      )}
      {content.map((part, at) => (
        <Part key={at} part={part} />
      ))}
      {data !== null && <Code label="Result as data" text={JSON.stringify(data, null, 2)} />}
      {content.length === 0 && data === null && error === null && <p className="text-muted">The answer is empty.</p>}
    </section>
  );
}

function Part({ part }: { readonly part: Readonly<Record<string, unknown>> }) {
  if (part['type'] === 'text' && typeof part['text'] === 'string') return <Code label="Text" text={part['text']} />;
  return <Code label={`Part of type ${String(part['type'])}`} text={JSON.stringify(part, null, 2)} />;
}
