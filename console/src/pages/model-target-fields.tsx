import { useQuery } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { useId } from 'react';
import { listCatalogueModelsOptions } from '../api/@tanstack/react-query.gen';
import type { VirtualKey } from '../api/types.gen';
import { AddButton } from '../components/add-button';
import { Button } from '../components/ui/button';
import { Field, Input, Select } from '../components/ui/field';
import { useLogin } from '../lib/login-context';
import type { Strategy, TargetDraft } from '../lib/model-targets';
import { isProvider } from '../lib/providers';

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
  const { target, at, count, strategy, virtualKeys, hasMore, onChange, onMove, onRemove } = props;
  const change = (fields: Partial<TargetDraft>): void => onChange({ ...target, ...fields });
  const suggestions = useId();
  const path = `targets.${at}`;
  const provider = virtualKeys.find(({ slug }) => slug === target.virtualKey)?.provider;
  const names = useModelNames(provider);
  return (
    <li className="space-y-3 rounded-md border border-line p-3">
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
        <Field label="Model" param={`${path}.model`}>
          {(tie) => (
            <Input
              {...tie}
              required
              maxLength={512}
              spellCheck={false}
              autoComplete="off"
              list={suggestions}
              value={target.model}
              onChange={(event) => change({ model: event.target.value })}
            />
          )}
        </Field>
        <datalist id={suggestions}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
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
      <Terms target={target} path={path} change={change} />
    </li>
  );
}

interface TermsProps {
  readonly target: TargetDraft;
  /** Of the target in the body of the request. */
  readonly path: string;
  readonly change: (fields: Partial<TargetDraft>) => void;
}

/** Which calls the target takes: all of them, where nothing is filled in. */
function Terms({ target, path, change }: TermsProps) {
  const { conditions, minTokens, maxTokens, budgetLeft, timeoutSeconds, baseModel } = target;
  const fields = [minTokens, maxTokens, budgetLeft, timeoutSeconds, baseModel];
  const count = conditions.length + fields.filter((text) => text !== '').length;
  const put = (at: number, fields: Partial<TargetDraft['conditions'][number]>): void =>
    change({ conditions: conditions.map((each, index) => (index === at ? { ...each, ...fields } : each)) });
  return (
    <details>
      <summary className="cursor-pointer text-muted">
        {count === 0 ? 'It takes every call' : `It takes some calls only (${count})`}
      </summary>
      <div className="mt-3 space-y-3">
        {conditions.map(({ key, values }, at) => (
          <div key={at} className="flex items-end gap-2">
            <div className="flex-1">
              <Field label="Only calls whose" param={`${path}.conditions.${at}.key`}>
                {(tie) => (
                  <Input
                    {...tie}
                    required
                    spellCheck={false}
                    placeholder="metadata.tier"
                    value={key}
                    onChange={(event) => put(at, { key: event.target.value })}
                  />
                )}
              </Field>
            </div>
            <div className="flex-1">
              <Field label="is one of" param={`${path}.conditions.${at}.value`}>
                {(tie) => (
                  <Input
                    {...tie}
                    required
                    spellCheck={false}
                    placeholder="gold, platinum"
                    value={values}
                    onChange={(event) => put(at, { values: event.target.value })}
                  />
                )}
              </Field>
            </div>
            <Button
              kind="quiet"
              size="icon"
              className="shrink-0"
              aria-label={`Remove condition ${at + 1}`}
              onClick={() => change({ conditions: conditions.filter((_each, index) => index !== at) })}
            >
              <X aria-hidden className="size-4" />
            </Button>
          </div>
        ))}
        <AddButton onAdd={() => change({ conditions: [...conditions, { key: '', values: '' }] })}>
          Add a condition
        </AddButton>
        <p className="text-xs text-muted">
          A condition is on metadata of the call (metadata.tier), on its api_key or on its workspace_id. * stands for
          any text.
        </p>
        <div className="grid gap-3 sm:grid-cols-2">
          <NumberField
            label="From tokens"
            param={`${path}.min_estimated_tokens`}
            hint="Smaller calls go to other targets."
            min={1}
            value={minTokens}
            onChange={(text) => change({ minTokens: text })}
          />
          <NumberField
            label="Up to tokens"
            param={`${path}.max_estimated_tokens`}
            hint="Larger calls go to other targets."
            min={1}
            value={maxTokens}
            onChange={(text) => change({ maxTokens: text })}
          />
          <NumberField
            label="While budget is left (%)"
            param={`${path}.min_budget_left`}
            hint="Of each strict limit of the call."
            min={0}
            max={100}
            step="any"
            value={budgetLeft}
            onChange={(text) => change({ budgetLeft: text })}
          />
          <NumberField
            label="Begin within (seconds)"
            param={`${path}.timeout_ms`}
            hint="Then the next target takes the call."
            min={0.1}
            max={3600}
            step="any"
            value={timeoutSeconds}
            onChange={(text) => change({ timeoutSeconds: text })}
          />
          <Field label="Priced as" param={`${path}.base_model`} hint="The model behind a deployment or a tuned model.">
            {(tie) => (
              <Input
                {...tie}
                maxLength={512}
                spellCheck={false}
                value={baseModel}
                onChange={(event) => change({ baseModel: event.target.value })}
              />
            )}
          </Field>
        </div>
      </div>
    </details>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly param: string;
  readonly hint: string;
  readonly min: number;
  readonly max?: number;
  readonly step?: 'any';
  readonly isRequired?: boolean;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function NumberField({ label, param, hint, isRequired, value, onChange, ...bounds }: NumberFieldProps) {
  return (
    <Field label={label} param={param} hint={hint}>
      {(tie) => (
        <Input
          {...tie}
          {...bounds}
          type="number"
          required={isRequired}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
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
