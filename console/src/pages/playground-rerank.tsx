import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { createRerank } from '../api/sdk.gen';
import { ErrorNote, Loading } from '../components/states';
import { Card } from '../components/ui/card';
import { counted, whole } from '../lib/format';
import { CallFigures } from './call-figures';

interface RerankSideProps {
  readonly model: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly onEnd: () => void;
}

/** Documents as a model ranks them, each with a bar as long as its score. Each run needs a new `key`. */
export function RerankSide({ model, query, documents, onEnd }: RerankSideProps) {
  const ranked = useQuery({
    queryKey: ['rerank', model, query, documents],
    queryFn: async ({ signal }) => {
      const start = performance.now();
      const { data, response } = await createRerank({
        body: { model, query, documents: [...documents] },
        signal,
        throwOnError: true,
      });
      const traceId = response.headers.get('x-gateway-trace-id');
      return { results: data.results, traceId, ms: Math.round(performance.now() - start) };
    },
    // Each run is a call of its own, which costs.
    meta: { isOnce: true },
    gcTime: 0,
    retry: false,
    refetchInterval: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const { isPending } = ranked;
  useEffect(() => {
    if (!isPending) onEnd();
  }, [isPending]);
  return (
    <Card title={<span className="wrap-anywhere">{model}</span>} className="min-w-0">
      {ranked.isPending && <Loading />}
      {ranked.isError && <ErrorNote error={ranked.error} />}
      <p role="status" className="sr-only">
        {ranked.isSuccess && `Ranked ${counted(ranked.data.results.length, 'document')}.`}
      </p>
      {ranked.isSuccess && (
        <>
          <ol className="space-y-2 p-4">
            {ranked.data.results.map(({ index, relevance_score: score }) => (
              <li key={index} className="space-y-1">
                <div className="flex justify-between gap-3">
                  <span className="min-w-0 wrap-anywhere">{documents[index]}</span>
                  <span className="tabular-nums">{scoreInWords(score)}</span>
                </div>
                <div aria-hidden className="h-2 overflow-hidden rounded-full bg-raised">
                  <div className="h-full bg-accent" style={{ width: `${share(score, ranked.data.results) * 100}%` }} />
                </div>
              </li>
            ))}
          </ol>
          <CallFigures traceId={ranked.data.traceId} times={[['Time taken', `${whole(ranked.data.ms)} ms`]]} />
        </>
      )}
    </Card>
  );
}

/** Scores of some models are not between 0 and 1: the best one has the whole bar then, and the worst one below 0 has none. */
function share(score: number, results: readonly { readonly relevance_score: number }[]): number {
  const scores = results.map(({ relevance_score: each }) => each);
  const worst = Math.min(0, ...scores);
  const best = Math.max(worst < 0 ? -Infinity : 1, ...scores);
  return best === worst ? 1 : (score - worst) / (best - worst);
}

/** Scores that are all near 0 differ too. */
function scoreInWords(score: number): string {
  return score !== 0 && Math.abs(score) < 0.001 ? score.toExponential(2) : score.toFixed(4);
}
