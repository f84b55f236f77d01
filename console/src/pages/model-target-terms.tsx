import { X } from 'lucide-react';
import { AddButton } from '../components/add-button';
import { NumberField } from '../components/number-field';
import { Button } from '../components/ui/button';
import { Field, Input } from '../components/ui/field';
import type { ConditionDraft, TargetDraft } from '../lib/model-targets';

interface ModelTargetTermsProps {
  readonly target: TargetDraft;
  /** Of the target in the body of the request. */
  readonly path: string;
  readonly change: (fields: Partial<TargetDraft>) => void;
}

/** Which calls the target takes: all of them, where nothing is filled in. */
export function ModelTargetTerms({ target, path, change }: ModelTargetTermsProps) {
  const { conditions, minTokens, maxTokens, budgetLeft, timeoutSeconds, baseModel } = target;
  const fields = [minTokens, maxTokens, budgetLeft, timeoutSeconds, baseModel];
  const count = conditions.length + fields.filter((text) => text !== '').length;
  return (
    <details>
      <summary className="cursor-pointer text-muted">
        {count === 0 ? 'It takes every call' : `It takes some calls only (${count})`}
      </summary>
      <div className="mt-3 space-y-3">
        <Conditions conditions={conditions} path={path} onChange={(next) => change({ conditions: next })} />
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

interface ConditionsProps {
  readonly conditions: readonly ConditionDraft[];
  readonly path: string;
  readonly onChange: (conditions: readonly ConditionDraft[]) => void;
}

function Conditions({ conditions, path, onChange }: ConditionsProps) {
  const put = (at: number, fields: Partial<ConditionDraft>): void =>
    onChange(conditions.map((each, index) => (index === at ? { ...each, ...fields } : each)));
  return (
    <>
      {conditions.map(({ key, values }, at) => (
        // Conditions have no other identity than their place.
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
            onClick={() => onChange(conditions.filter((_each, index) => index !== at))}
          >
            <X aria-hidden className="size-4" />
          </Button>
        </div>
      ))}
      <AddButton onAdd={() => onChange([...conditions, { key: '', values: '' }])}>Add a condition</AddButton>
      <p className="text-xs text-muted">
        A condition is on metadata of the call (metadata.tier), on its api_key or on its workspace_id. * stands for any
        text.
      </p>
    </>
  );
}
