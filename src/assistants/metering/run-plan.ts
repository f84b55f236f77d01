import { isNamed } from '../../common/json/field-names.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import type { JobPlan, Unbounded } from '../../gateway/deferred/deferred-meter.js';
import { pricedModel, type ProviderContext } from '../../gateway/provider-context.decorator.js';
import { modelFacts } from '../../usage/models/model-catalogue.js';
import type { Counts } from '../../usage/units.js';

const INPUT_CAP = 'max_prompt_tokens';
const OUTPUT_CAP = 'max_completion_tokens';

/** What of a run, of the request for one, or of an assistant bounds what is used. */
export interface RunFacts {
  readonly model: string | undefined;
  readonly tools: readonly unknown[] | undefined;
  /** Tokens of the whole run. */
  readonly inputCap: number | undefined;
  readonly outputCap: number | undefined;
  /** A field that is there in several spellings: servers differ in which one counts. */
  readonly ambiguous: string | undefined;
}

export function readRunFacts(body: JsonObject): RunFacts {
  const [model, tools, inputCap, outputCap] = ['model', 'tools', INPUT_CAP, OUTPUT_CAP].map((name) => {
    const given = Object.entries(body).filter(([field]) => isNamed(field, name));
    return { name, value: given[0]?.[1], isAmbiguous: given.length > 1 };
  });
  return {
    model: typeof model?.value === 'string' ? model.value : undefined,
    tools: Array.isArray(tools?.value) ? tools.value : undefined,
    inputCap: capIn(inputCap?.value),
    outputCap: capIn(outputCap?.value),
    ambiguous: [model, tools, inputCap, outputCap].find((read) => read?.isAmbiguous)?.name,
  };
}

/** What a run may use, up to its end or to the next call of a function. */
export function planOfRun(context: ProviderContext, facts: RunFacts): JobPlan {
  const { model, inputCap, outputCap } = facts;
  if (facts.ambiguous !== undefined) return leftOpen(facts.ambiguous, 'it is there more than once');
  if (model === undefined) return leftOpen('model', 'neither the run nor its assistant names one');
  const known = knownModel(context, model);
  const input = inputCap ?? known?.contextWindow;
  const output = outputCap ?? known?.maxOutput;
  const unbounded = openField(facts, input, output);
  return partOf(model, { input: input ?? 0, output: output ?? 0 }, unbounded);
}

/** What it may use more once it gets the outputs of its functions: caps are for the whole run. */
export function planOfStep(context: ProviderContext, facts: RunFacts): JobPlan {
  const { model, inputCap, outputCap } = facts;
  if (model === undefined) return leftOpen('model', 'the run names none');
  const known = knownModel(context, model);
  const counts = {
    input: inputCap === undefined ? (known?.contextWindow ?? 0) : 0,
    output: outputCap === undefined ? (known?.maxOutput ?? 0) : 0,
  };
  return partOf(model, counts, openField(facts, inputCap ?? known?.contextWindow, outputCap ?? known?.maxOutput));
}

function partOf(model: string, counts: Counts, unbounded: Unbounded | undefined): JobPlan {
  return { parts: [{ model, unit: 'output', calls: [counts], mayUse: new Set(['cache_read']) }], unbounded };
}

function openField(
  { tools = [], inputCap, outputCap }: RunFacts,
  input: number | undefined,
  output: number | undefined,
): Unbounded | undefined {
  if (input === undefined) return { field: INPUT_CAP, reason: UNKNOWN };
  if (output === undefined) return { field: OUTPUT_CAP, reason: UNKNOWN };
  // A tool of the provider's lets the model be called again and again, within one request.
  if (!tools.some(isHosted)) return undefined;
  if (inputCap === undefined) return { field: INPUT_CAP, reason: HOSTED };
  return outputCap === undefined ? { field: OUTPUT_CAP, reason: HOSTED } : undefined;
}

const UNKNOWN = 'the size of the model is not known';
const HOSTED = 'with a tool of the provider, the model may be called many times';

function isHosted(tool: unknown): boolean {
  return !isObject(tool) || tool['type'] !== 'function';
}

function knownModel(context: ProviderContext, model: string): { contextWindow: number; maxOutput: number } | undefined {
  return modelFacts(context.virtualKey.provider.slug, pricedModel(context, model));
}

function capIn(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined;
}

function leftOpen(field: string, reason: string): JobPlan {
  return { parts: [], unbounded: { field, reason } };
}
