import { useEffect, useRef, useState } from 'react';
import { Card } from '../components/ui/card';
import { streamChat } from '../lib/chat-stream';
import { counted, whole } from '../lib/format';
import { ApiError } from '../lib/session';
import { ErrorNote } from '../components/states';
import { CallFigures } from './call-figures';

interface Answer {
  readonly text: string;
  readonly traceId: string | null;
  readonly firstMs?: number;
  readonly totalMs?: number;
  readonly error?: Error;
  readonly isRefusal: boolean;
  /** In the provider's word. */
  readonly finish: string | null;
}

const NOTHING: Answer = { text: '', traceId: null, isRefusal: false, finish: null };
const STOPPED = 'stopped';

interface ChatSideProps {
  readonly model: string;
  readonly message: string;
  readonly maxTokens: number | undefined;
  /** What came until then stays. */
  readonly isStopped: boolean;
  readonly onEnd: () => void;
}

/** An answer as it streams in, then its time and cost. Each run needs a new `key`. */
export function ChatSide({ model, message, maxTokens, isStopped, onEnd }: ChatSideProps) {
  const [answer, setAnswer] = useState(NOTHING);
  const running = useRef<AbortController>(null);
  useEffect(() => {
    const stop = new AbortController();
    running.current = stop;
    const start = performance.now();
    const passed = (): number => Math.round(performance.now() - start);
    const read = async (): Promise<void> => {
      setAnswer(NOTHING);
      const { traceId, pieces } = await streamChat({ model, message, maxTokens }, stop.signal);
      setAnswer({ ...NOTHING, traceId });
      for await (const { text, isRefusal, finish } of pieces) {
        // Streams begin with the role, without words, and models may think first.
        const first = text === '' ? {} : { firstMs: passed() };
        setAnswer((before) => ({
          ...first,
          ...before,
          text: before.text + text,
          isRefusal: before.isRefusal || isRefusal,
          finish: finish ?? before.finish,
        }));
      }
      setAnswer((before) => ({ ...before, totalMs: passed() }));
    };
    read()
      .catch((error: unknown) => {
        if (stop.signal.reason === STOPPED)
          return setAnswer((before) => ({ ...before, finish: STOPPED, totalMs: passed() }));
        if (stop.signal.aborted) return;
        const shown = error instanceof Error ? error : new Error('The call failed.');
        setAnswer((before) => ({ ...before, error: shown, totalMs: passed() }));
      })
      .finally(() => (!stop.signal.aborted || stop.signal.reason === STOPPED) && onEnd());
    return () => stop.abort();
  }, [model, message, maxTokens]);
  useEffect(() => {
    if (isStopped) running.current?.abort(STOPPED);
  }, [isStopped]);
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
        {totalMs !== undefined && error === undefined && <Ending answer={answer} maxTokens={maxTokens} />}
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

/** Why there are no more words, where the words do not say it. */
function Ending({ answer, maxTokens }: { readonly answer: Answer; readonly maxTokens: number | undefined }) {
  const { text, isRefusal, finish } = answer;
  const ending = isRefusal ? 'The model refuses.' : endingOf(finish, text === '', maxTokens);
  return ending !== undefined && <p className="mt-2 text-warn">{ending}</p>;
}

function endingOf(finish: string | null, isEmpty: boolean, maxTokens: number | undefined): string | undefined {
  switch (finish) {
    case STOPPED:
      return 'Stopped.';
    case 'length': {
      const bound = maxTokens === undefined ? 'the longest that the model gives' : counted(maxTokens, 'token');
      const cut = `The answer was cut off at its bound: ${bound}.`;
      return isEmpty ? `${cut} The model used them before the first word, perhaps to think.` : cut;
    }
    case 'content_filter':
      return 'A filter of the provider held the answer back.';
    default:
      return isEmpty ? 'The answer has no words.' : undefined;
  }
}
