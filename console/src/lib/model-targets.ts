import type { ModelTarget, ModelTargetInput, TargetCondition } from '../api/types.gen';

/** How the calls of a route are spread over its targets. */
export const STRATEGIES = {
  order: 'The first that works, from the top',
  shares: 'Each gets a share of the calls',
  steps: 'Steps: shares within a step, and the next step when all of it fails',
} as const;
export type Strategy = keyof typeof STRATEGIES;

/** A target while it is edited: numbers as they were typed. */
export interface TargetDraft {
  /** Of this page only: a target keeps its fields when others move. */
  readonly id: string;
  readonly virtualKey: string;
  readonly model: string;
  readonly step: string;
  readonly share: string;
  readonly conditions: readonly ConditionDraft[];
  readonly minTokens: string;
  readonly maxTokens: string;
  /** Percent of each budget that must be left. */
  readonly budgetLeft: string;
  readonly timeoutSeconds: string;
  readonly baseModel: string;
}

export interface ConditionDraft {
  readonly key: string;
  /** Several values with commas between them. */
  readonly values: string;
  /** What the form does not show, and keeps. */
  readonly excludes?: TargetCondition['excludes'];
}

const PERCENT = 100;
const SECOND_MS = 1_000;
let lastId = 0;

export function isStrategy(text: string): text is Strategy {
  return text in STRATEGIES;
}

export function strategyOf(targets: readonly ModelTarget[]): Strategy {
  const hasShares = targets.some(({ weight }) => weight !== null);
  if (!hasShares) return 'order';
  return stepsOf(targets).length > 1 ? 'steps' : 'shares';
}

/** The orders of targets, the first one tried first. */
export function stepsOf(targets: readonly ModelTarget[]): readonly number[] {
  return [...new Set(targets.map(({ order }) => order))].toSorted((one, other) => one - other);
}

export function newTarget(): TargetDraft {
  return {
    id: nextId(),
    virtualKey: '',
    model: '',
    step: '1',
    share: '1',
    conditions: [],
    minTokens: '',
    maxTokens: '',
    budgetLeft: '',
    timeoutSeconds: '',
    baseModel: '',
  };
}

/** In the order in which they are tried. */
export function draftsOf(targets: readonly ModelTarget[]): readonly TargetDraft[] {
  const steps = stepsOf(targets);
  return targets
    .toSorted((one, other) => one.order - other.order)
    .map((target) => ({
      id: nextId(),
      virtualKey: target.virtual_key,
      model: target.model,
      step: String(steps.indexOf(target.order) + 1),
      share: String(target.weight ?? 1),
      conditions: target.conditions.map(({ key, value, excludes }) => ({
        key,
        values: [value].flat().join(', '),
        ...(excludes !== undefined && { excludes }),
      })),
      minTokens: textOf(target.min_estimated_tokens),
      maxTokens: textOf(target.max_estimated_tokens),
      budgetLeft: target.min_budget_left === null ? '' : String(Number((target.min_budget_left * PERCENT).toFixed(2))),
      timeoutSeconds: target.timeout_ms === null ? '' : String(target.timeout_ms / SECOND_MS),
      baseModel: target.base_model ?? '',
    }));
}

export function targetsOf(drafts: readonly TargetDraft[], strategy: Strategy): ModelTargetInput[] {
  return drafts.map((draft) => ({
    virtual_key: draft.virtualKey,
    model: draft.model.trim(),
    base_model: draft.baseModel.trim() === '' ? null : draft.baseModel.trim(),
    order: strategy === 'steps' ? Number(draft.step) : 0,
    weight: strategy === 'order' ? null : Number(draft.share),
    conditions: draft.conditions.map(({ key, values, excludes }) => ({
      key: key.trim(),
      value: valueOf(values),
      ...(excludes !== undefined && { excludes }),
    })),
    min_estimated_tokens: numberOf(draft.minTokens),
    max_estimated_tokens: numberOf(draft.maxTokens),
    min_budget_left: draft.budgetLeft === '' ? null : Number((Number(draft.budgetLeft) / PERCENT).toFixed(4)),
    timeout_ms: draft.timeoutSeconds === '' ? null : Math.round(Number(draft.timeoutSeconds) * SECOND_MS),
  }));
}

function nextId(): string {
  lastId += 1;
  return String(lastId);
}

function textOf(count: number | null): string {
  return count === null ? '' : String(count);
}

function numberOf(text: string): number | null {
  return text === '' ? null : Number(text);
}

function valueOf(text: string): string | string[] {
  const values = text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : values;
}
