import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listModelsOptions } from '../api/@tanstack/react-query.gen';
import { Button } from '../components/ui/button';
import { Field, Input, TextArea } from '../components/ui/field';

const KINDS = { chat: 'Chat', rerank: 'Rerank' } as const;
type Kind = keyof typeof KINDS;
const SIDES = ['left', 'right'] as const;
type Side = (typeof SIDES)[number];
const MAX_MODELS = 1_000;
/** A limit refuses calls whose output has no bound. */
const MAX_TOKENS = 1_000;

/** What was sent: later changes of the form belong to the next run. */
export interface PlaygroundRun {
  readonly kind: Kind;
  readonly models: readonly string[];
  readonly question: string;
  readonly documents: readonly string[];
  /** Undefined: the model decides. */
  readonly maxTokens: number | undefined;
}

interface PlaygroundFormProps {
  readonly onSend: (run: PlaygroundRun) => void;
  /** Ends the calls that run; undefined: none does. */
  readonly onStop: (() => void) | undefined;
  /** The answers on the page are of another kind of call. */
  readonly onClear: () => void;
}

/** The question, and the models that get it. */
export function PlaygroundForm({ onSend, onStop, onClear }: PlaygroundFormProps) {
  const [kind, setKind] = useState<Kind>('chat');
  const [isDouble, setDouble] = useState(false);
  const [question, setQuestion] = useState('');
  const [documents, setDocuments] = useState('');
  const [maxTokens, setMaxTokens] = useState(String(MAX_TOKENS));
  const [models, setModels] = useState<Readonly<Record<Side, string>>>({ left: '', right: '' });
  const sides = isDouble ? SIDES : SIDES.slice(0, 1);
  const run: PlaygroundRun = {
    kind,
    models: sides.map((side) => models[side].trim()),
    question,
    documents: documents.split('\n').filter((line) => line.trim() !== ''),
    maxTokens: maxTokens === '' ? undefined : Number(maxTokens),
  };
  return (
    <form
      className="space-y-4 p-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(run);
      }}
    >
      <div role="group" aria-label="Kind of call" className="flex flex-wrap gap-1">
        <KindButtons
          kind={kind}
          onChange={(next) => {
            setKind(next);
            onClear();
          }}
        />
        <Button size="small" onClick={() => setDouble(!isDouble)}>
          {isDouble ? 'One model' : 'Compare two'}
        </Button>
      </div>
      <ModelFields sides={sides} models={models} onChange={setModels} />
      <Field label={kind === 'chat' ? 'Message' : 'Query'}>
        {(tie) => <TextArea {...tie} rows={3} value={question} onChange={({ target }) => setQuestion(target.value)} />}
      </Field>
      {kind === 'chat' && <MaxTokensField value={maxTokens} onChange={setMaxTokens} />}
      {kind === 'rerank' && (
        <Field label="Documents" hint="One on each line.">
          {(tie) => (
            <TextArea {...tie} rows={5} value={documents} onChange={({ target }) => setDocuments(target.value)} />
          )}
        </Field>
      )}
      <div className="flex gap-2">
        {/* A second click would pay for a second call. */}
        <Button kind="main" type="submit" disabled={!isComplete(run) || onStop !== undefined}>
          Send
        </Button>
        {onStop !== undefined && <Button onClick={onStop}>Stop</Button>}
      </div>
    </form>
  );
}

interface KindButtonsProps {
  readonly kind: Kind;
  readonly onChange: (kind: Kind) => void;
}

function KindButtons({ kind, onChange }: KindButtonsProps) {
  return (['chat', 'rerank'] as const).map((each) => (
    <Button
      key={each}
      size="small"
      kind={each === kind ? 'main' : 'plain'}
      aria-pressed={each === kind}
      onClick={() => onChange(each)}
    >
      {KINDS[each]}
    </Button>
  ));
}

interface ModelFieldsProps {
  readonly sides: readonly Side[];
  readonly models: Readonly<Record<Side, string>>;
  readonly onChange: (models: Readonly<Record<Side, string>>) => void;
}

/** A model for each side, with the names that the key can use as suggestions. */
function ModelFields({ sides, models, onChange }: ModelFieldsProps) {
  const known = useQuery(listModelsOptions({ query: { limit: MAX_MODELS } }));
  return (
    <>
      <div className="grid gap-4 md:grid-cols-2">
        {sides.map((side) => (
          <Field
            key={side}
            label={sides.length > 1 ? `Model on the ${side}` : 'Model'}
            hint="The name of a model route, or @virtual-key/model."
          >
            {(tie) => (
              <Input
                {...tie}
                value={models[side]}
                spellCheck={false}
                list="models"
                onChange={({ target }) => onChange({ ...models, [side]: target.value })}
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
    </>
  );
}

interface MaxTokensFieldProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function MaxTokensField({ value, onChange }: MaxTokensFieldProps) {
  return (
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
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}

function isComplete({ kind, models, question, documents }: PlaygroundRun): boolean {
  const isNamed = models.every((model) => model !== '');
  return question.trim() !== '' && isNamed && (kind === 'chat' || documents.length > 0);
}
