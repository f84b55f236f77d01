import { useState } from 'react';
import { Page } from '../components/page';
import { Empty } from '../components/states';
import { Card } from '../components/ui/card';
import { useLogin } from '../lib/login-context';
import { ChatSide } from './playground-chat';
import { PlaygroundForm, type PlaygroundRun } from './playground-form';
import { RerankSide } from './playground-rerank';

/** Tries one question on one or two models. The calls are those of the key, and count against its limits. */
export function PlaygroundPage() {
  const { caller, may } = useLogin();
  const [run, setRun] = useState<PlaygroundRun>();
  const [count, setCount] = useState(0);
  /** The sides of the run whose calls have ended. */
  const [ended, setEnded] = useState<ReadonlySet<number>>(new Set());
  const [isStopped, setStopped] = useState(false);
  if (caller.type !== 'api_key' || !may('completions.write')) {
    return (
      <Page title="Playground">
        <Empty>
          Calls of models need an API key with the scope completions.write. Log in with one to use this page.
        </Empty>
      </Page>
    );
  }
  const stop = (): void => (run?.kind === 'chat' ? setStopped(true) : setRun(undefined));
  return (
    <Page
      title="Playground"
      intro="Calls of this page are real: they are put down to your key, cost what they cost, and count against its limits."
    >
      <Card>
        <PlaygroundForm
          onSend={(next) => {
            setRun(next);
            setCount(count + 1);
            setEnded(new Set());
            setStopped(false);
          }}
          onStop={run !== undefined && ended.size < run.models.length ? stop : undefined}
          onClear={() => setRun(undefined)}
        />
      </Card>
      {run !== undefined && (
        <div className="grid grid-cols-1 gap-3 md:grid-flow-col md:auto-cols-fr">
          {run.models.map((model, index) => {
            const key = `${index} ${count}`;
            const side = { model, onEnd: () => setEnded((before) => new Set([...before, index])) };
            return run.kind === 'chat' ? (
              <ChatSide key={key} {...side} message={run.question} maxTokens={run.maxTokens} isStopped={isStopped} />
            ) : (
              <RerankSide key={key} {...side} query={run.question} documents={run.documents} />
            );
          })}
        </div>
      )}
    </Page>
  );
}
