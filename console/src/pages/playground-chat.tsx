import { useEffect, useState } from 'react';
import { Card } from '../components/ui/card';
import { streamChat } from '../lib/chat-stream';
import { whole } from '../lib/format';
import { ApiError } from '../lib/session';
import { ErrorNote } from '../components/states';
import { CallFigures } from './call-figures';

interface Answer {
  readonly text: string;
  readonly traceId: string | null;
  readonly firstMs?: number;
  readonly totalMs?: number;
  readonly error?: Error;
}

const NOTHING: Answer = { text: '', traceId: null };

interface ChatSideProps {
  readonly model: string;
  readonly message: string;
  readonly maxTokens: number | undefined;
}

/** An answer as it streams in, then its time and cost. Each run needs a new `key`. */
export function ChatSide({ model, message, maxTokens }: ChatSideProps) {
  const [answer, setAnswer] = useState(NOTHING);
  useEffect(() => {
    const stop = new AbortController();
    const start = performance.now();
    const passed = (): number => Math.round(performance.now() - start);
    const read = async (): Promise<void> => {
      setAnswer(NOTHING);
      const { traceId, pieces } = await streamChat({ model, message, maxTokens }, stop.signal);
      setAnswer({ text: '', traceId });
      for await (const piece of pieces) {
        const firstMs = passed();
        setAnswer((before) => ({ firstMs, ...before, text: before.text + piece }));
      }
      setAnswer((before) => ({ ...before, totalMs: passed() }));
    };
    read().catch((error: unknown) => {
      if (stop.signal.aborted) return;
      const shown = error instanceof Error ? error : new Error('The call failed.');
      setAnswer((before) => ({ ...before, error: shown, totalMs: passed() }));
    });
    return () => stop.abort();
  }, [model, message, maxTokens]);
  const { text, traceId, firstMs, totalMs, error } = answer;
  const trace = error instanceof ApiError ? error.traceId : traceId;
  return (
    <Card title={<span className="wrap-anywhere">{model}</span>} className="min-w-0">
      {error !== undefined && <ErrorNote error={error} />}
      <div
        aria-live="polite"
        aria-busy={totalMs === undefined}
        className="min-h-24 p-4 wrap-anywhere whitespace-pre-wrap"
      >
        {text}
        {totalMs === undefined && <span className="text-muted"> …</span>}
      </div>
      <CallFigures
        traceId={totalMs === undefined ? null : trace}
        times={[
          ['First words', firstMs === undefined ? '–' : `${whole(firstMs)} ms`],
          ['Whole answer', totalMs === undefined ? '–' : `${whole(totalMs)} ms`],
        ]}
      />
    </Card>
  );
}
