import { useQuery } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { useId } from 'react';
import { listCatalogueModelsOptions } from '../api/@tanstack/react-query.gen';
import type { VirtualKey } from '../api/types.gen';
import { NumberField } from '../components/number-field';
import { Button } from '../components/ui/button';
import { Field, Input, Select } from '../components/ui/field';
import { useLogin } from '../lib/login-context';
import type { Strategy, TargetDraft } from '../lib/model-targets';
import { isProvider } from '../lib/providers';
import { ModelTargetTerms } from './model-target-terms';

interface ModelTargetFieldsProps {
  readonly target: TargetDraft;
  /** From 0. */
  readonly at: number;
  readonly count: number;
  readonly strategy: Strategy;
  readonly virtualKeys: readonly Pick<VirtualKey, 'id' | 'slug' | 'name' | 'provider'>[];
  /** Whether there are others, which can only be typed. */
  readonly hasMore: boolean;
  readonly onChange: (target: TargetDraft) => void;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
}

/** One target of a model route: the virtual key, the model, and which calls it takes. */
export function ModelTargetFields(props: ModelTargetFieldsProps) {
  const { target, at, strategy, virtualKeys, hasMore, onChange } = props;
  const change = (fields: Partial<TargetDraft>): void => onChange({ ...target, ...fields });
  const path = `targets.${at}`;
  const provider = virtualKeys.find(({ slug }) => slug === target.virtualKey)?.provider;
  return (
    <li className="space-y-3 rounded-md border border-line p-3">
      <TargetHead {...props} />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Virtual key" param={`${path}.virtual_key`} hint={hasMore ? 'By its slug.' : undefined}>
          {(tie) =>
            hasMore ? (
              <Input
                {...tie}
                required
                spellCheck={false}
                value={target.virtualKey}
                onChange={(event) => change({ virtualKey: event.target.value.trim() })}
              />
            ) : (
              <Select
                {...tie}
                required
                value={target.virtualKey}
                onChange={(event) => change({ virtualKey: event.target.value })}
              >
                <option value="">Choose a virtual key</option>
                {provider === undefined && target.virtualKey !== '' && <option>{target.virtualKey}</option>}
                {virtualKeys.map(({ id, slug, name }) => (
                  <option key={id} value={slug}>
                    {name === slug ? name : `${name} (${slug})`}
                  </option>
                ))}
              </Select>
            )
          }
        </Field>
        <ModelField
          param={`${path}.model`}
          provider={provider}
          value={target.model}
          onChange={(model) => change({ model })}
        />
        {strategy === 'steps' && (
          <NumberField
            label="Step"
            param={`${path}.order`}
            hint="Step 1 is tried first."
            min={1}
            value={target.step}
            onChange={(step) => change({ step })}
            isRequired
          />
        )}
        {strategy !== 'order' && (
          <NumberField
            label="Share"
            param={`${path}.weight`}
            hint="3 beside 1: three of four calls."
            min={1}
            value={target.share}
            onChange={(share) => change({ share })}
            isRequired
          />
        )}
      </div>
      <ModelTargetTerms target={target} path={path} change={change} />
    </li>
  );
}

type TargetHeadProps = Pick<ModelTargetFieldsProps, 'at' | 'count' | 'strategy' | 'onMove' | 'onRemove'>;

/** The number of a target, and the buttons that move or remove it. */
function TargetHead({ at, count, strategy, onMove, onRemove }: TargetHeadProps) {
  return (
    <div className="flex items-center justify-between gap-2">
      <h3 className="font-medium">Target {at + 1}</h3>
      <div className="flex">
        {strategy === 'order' && (
          <>
            <Button
              kind="quiet"
              size="icon"
              aria-label={`Move target ${at + 1} up`}
              disabled={at === 0}
              onClick={() => onMove(at - 1)}
            >
              <ArrowUp aria-hidden className="size-4" />
            </Button>
            <Button
              kind="quiet"
              size="icon"
              aria-label={`Move target ${at + 1} down`}
              disabled={at === count - 1}
              onClick={() => onMove(at + 1)}
            >
              <ArrowDown aria-hidden className="size-4" />
            </Button>
          </>
        )}
        <Button
          kind="quiet"
          size="icon"
          aria-label={`Remove target ${at + 1}`}
          disabled={count === 1}
          onClick={onRemove}
        >
          <X aria-hidden className="size-4" />
        </Button>
      </div>
    </div>
  );
}

interface ModelFieldProps {
  readonly param: string;
  /** Undefined: not known. */
  readonly provider: string | undefined;
  readonly value: string;
  readonly onChange: (model: string) => void;
}

/** A model, with suggestions where its provider is known. */
function ModelField({ param, provider, value, onChange }: ModelFieldProps) {
  const suggestions = useId();
  const names = useModelNames(provider);
  return (
    <>
      <Field label="Model" param={param}>
        {(tie) => (
          <Input
            {...tie}
            required
            maxLength={512}
            spellCheck={false}
            autoComplete="off"
            list={suggestions}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
        )}
      </Field>
      <datalist id={suggestions}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

/** Known models of a provider, as suggestions: any other may be typed. */
function useModelNames(provider: string | undefined): readonly string[] {
  const { may } = useLogin();
  const models = useQuery({
    ...listCatalogueModelsOptions({ query: { page_size: 100, ...(isProvider(provider) && { provider }) } }),
    enabled: isProvider(provider) && may('prices.list'),
    staleTime: Infinity,
  });
  return isProvider(provider) ? (models.data?.data ?? []).map(({ model }) => model) : [];
}
