import { GatewayError } from '../../common/errors/gateway.error.js';
import { memberText, readMembers } from '../../common/json/members.js';
import type { JobPlan, Unbounded } from '../../gateway/deferred/deferred-meter.js';
import { pricedModel, type ProviderContext } from '../../gateway/provider-context.decorator.js';
import { bedrockInvoke } from '../../inference/dialects/bedrock/invoke.dialect.js';
import { modelFacts } from '../../usage/models/model-catalogue.js';
import type { ModelFacts } from '../../usage/models/model-facts.js';
import type { Counts, QuantityUnit } from '../../usage/units.js';

const FIELD = 'input_file_id';

/** Gathers what the records of a batch may use: each as the same call of InvokeModel would by itself, for the model of the job. */
export class BedrockBatchPlan {
  readonly #knownModel: ModelFacts | undefined;
  readonly #calls: Counts[] = [];
  #unit: QuantityUnit = 'output';
  #unbounded: Unbounded | undefined;

  constructor(
    context: ProviderContext,
    private readonly model: string,
  ) {
    this.#knownModel = modelFacts(context.virtualKey.provider.slug, pricedModel(context, model));
  }

  get plan(): JobPlan {
    const mayUse = new Set(bedrockInvoke.mayUse);
    return {
      parts: [{ model: this.model, unit: this.#unit, calls: this.#calls, mayUse }],
      unbounded: this.#unbounded,
      // Anyone who may write to the bucket can replace the file.
      mayChange: true,
    };
  }

  /** What the file cannot say. */
  leftOpen(reason: string): JobPlan {
    this.#unbounded ??= { field: FIELD, reason };
    return this.plan;
  }

  addLine(line: Buffer, number: number): void {
    try {
      const body = memberText(line, 'modelInput');
      if (body === undefined) return void this.leftOpen(`line ${number} has no modelInput`);
      const members = { ...readMembers(body, bedrockInvoke.members), model: this.model };
      const facts = bedrockInvoke.readFacts(members, body);
      const known = { facts, bytes: body, knownModel: this.#knownModel, hidesReasoning: true };
      const { unit, counts, unbounded } = bedrockInvoke.estimate(known);
      this.#unit = unit;
      this.#calls.push(counts);
      if (unbounded !== undefined) this.leftOpen(`line ${number}: ${unbounded}`);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.leftOpen(`line ${number} cannot be read`);
    }
  }
}
