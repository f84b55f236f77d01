import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listModelsOptions } from '../api/@tanstack/react-query.gen';
import { Page } from '../components/page';
import { Empty } from '../components/states';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Field, Input, TextArea } from '../components/ui/field';
import { useLogin } from '../lib/login-context';
import { ChatSide } from './playground-chat';
import { RerankSide } from './playground-rerank';

const KINDS = { chat: 'Chat', rerank: 'Rerank' } as const;
type Kind = keyof typeof KINDS;
const SIDES = ['left', 'right'] as const;
const MAX_MODELS = 1_000;
/** A limit refuses calls whose output has no bound. */
const MAX_TOKENS = 1_000;

/** What was sent: later changes of the form belong to the next run. */
interface Run {
  readonly number: number;
  readonly models: readonly string[];
  readonly question: string;
  readonly documents: readonly string[];
  /** Undefined: the model decides. */
  readonly maxTokens: number | undefined;
}

/** Tries one question on one or two models. The calls are those of the key, and count against its limits. */
export function PlaygroundPage() {
  const { caller, may } = useLogin();
  const [kind, setKind] = useState<Kind>('chat');
  const [isDouble, setDouble] = useState(false);
  const [question, setQuestion] = useState('');
  const [documents, setDocuments] = useState('');
  const [maxTokens, setMaxTokens] = useState(String(MAX_TOKENS));
  const [models, setModels] = useState<Readonly<Record<(typeof SIDES)[number], string>>>({ left: '', right: '' });
  const [run, setRun] = useState<Run>();
  const isCaller = caller.type === 'api_key' && may('completions.write');
  const known = useQuery({ ...listModelsOptions({ query: { limit: MAX_MODELS } }), enabled: isCaller });
  if (!isCaller) {
    return (
      <Page title="Playground">
        <Empty>
          Calls of models need an API key with the scope completions.write. Log in with one to use this page.
        </Empty>
      </Page>
    );
  }
  const sides = isDouble ? SIDES : SIDES.slice(0, 1);
  const texts = documents.split('\n').filter((line) => line.trim() !== '');
  const isReady =
    question.trim() !== '' &&
    sides.every((side) => models[side].trim() !== '') &&
    (kind === 'chat' || texts.length > 0);
  return (
    <Page
      title="Playground"
      intro="Calls of this page are real: they are put down to your key, cost what they cost, and count against its limits."
    >
      <Card>
        <form
          className="space-y-4 p-4"
          onSubmit={(event) => {
            event.preventDefault();
            setRun({
              number: (run?.number ?? 0) + 1,
              models: sides.map((side) => models[side].trim()),
              question,
              documents: texts,
              maxTokens: maxTokens === '' ? undefined : Number(maxTokens),
            });
          }}
        >
          <div role="group" aria-label="Kind of call" className="flex flex-wrap gap-1">
            {(['chat', 'rerank'] as const).map((each) => (
              <Button
                key={each}
                size="small"
                kind={each === kind ? 'main' : 'plain'}
                aria-pressed={each === kind}
                onClick={() => {
                  setKind(each);
                  setRun(undefined);
                }}
              >
                {KINDS[each]}
              </Button>
            ))}
            <Button size="small" onClick={() => setDouble(!isDouble)}>
              {isDouble ? 'One model' : 'Compare two'}
            </Button>
          </div>
          <div className="grid gap-4 md:grid-cols-2">
            {sides.map((side) => (
              <Field
                key={side}
                label={isDouble ? `Model on the ${side}` : 'Model'}
                hint="The name of a model route, or @virtual-key/model."
              >
                {(tie) => (
                  <Input
                    {...tie}
                    value={models[side]}
                    spellCheck={false}
                    list="models"
                    onChange={({ target }) => setModels({ ...models, [side]: target.value })}
                  />
                )}
              </Field>
            ))}
          </div>
          <datalist id="models">
            {known.data?.data.map(({ id }) => (
              <option key={id} value={id} />
            ))}
          </datalist>
          <Field label={kind === 'chat' ? 'Message' : 'Query'}>
            {(tie) => (
              <TextArea {...tie} rows={3} value={question} onChange={({ target }) => setQuestion(target.value)} />
            )}
          </Field>
          {kind === 'chat' && (
            <Field
              label="Longest answer in tokens"
              hint="A limit holds room for so much while the call runs. Empty: the model decides, which a limit may refuse."
            >
              {(tie) => (
                <Input
                  {...tie}
                  type="number"
                  min={1}
                  step={1}
                  className="sm:w-56"
                  value={maxTokens}
                  onChange={({ target }) => setMaxTokens(target.value)}
                />
              )}
            </Field>
          )}
          {kind === 'rerank' && (
            <Field label="Documents" hint="One on each line.">
              {(tie) => (
                <TextArea {...tie} rows={5} value={documents} onChange={({ target }) => setDocuments(target.value)} />
              )}
            </Field>
          )}
          <Button kind="main" type="submit" disabled={!isReady}>
            Send
          </Button>
        </form>
      </Card>
      {run !== undefined && (
        <div className="grid grid-cols-1 gap-3 md:grid-flow-col md:auto-cols-fr">
          {run.models.map((model, index) =>
            kind === 'chat' ? (
              <ChatSide key={`${index} ${run.number}`} model={model} message={run.question} maxTokens={run.maxTokens} />
            ) : (
              <RerankSide key={`${index} ${run.number}`} model={model} query={run.question} documents={run.documents} />
            ),
          )}
        </div>
      )}
    </Page>
  );
}
