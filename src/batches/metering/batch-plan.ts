import { GatewayError } from '../../common/errors/gateway.error.js';
import { memberText, readMembers } from '../../common/json/members.js';
import { stringOrUndefined } from '../../common/json/read.js';
import type { JobPlan, PlannedCalls, Unbounded } from '../../gateway/deferred/deferred-meter.js';
import { pricedModel, type ProviderContext } from '../../gateway/provider-context.decorator.js';
import type { Dialect, InferenceFacts } from '../../inference/dialects/dialect.types.js';
import { openaiChat } from '../../inference/dialects/openai-chat/chat.dialect.js';
import { openaiCompletions } from '../../inference/dialects/openai-completions/completions.dialect.js';
import { openaiEmbeddings } from '../../inference/dialects/openai-embeddings.dialect.js';
import { openaiResponses } from '../../inference/dialects/openai-responses/responses.dialect.js';
import { modelFacts } from '../../usage/models/model-catalogue.js';
import type { ModelFacts } from '../../usage/models/model-facts.js';
import type { Counts, QuantityUnit } from '../../usage/units.js';

const FIELD = 'input_file_id';
/** Each has a reservation of its own. */
const MAX_MODELS = 16;
const LINE_MEMBERS: ReadonlySet<string> = new Set(['url', 'method']);

/** Calls of one model, while they are gathered. */
interface Gathered {
  unit: QuantityUnit;
  readonly calls: Counts[];
  readonly mayUse: Set<QuantityUnit>;
  readonly knownModel: ModelFacts | undefined;
}

/** Gathers what the lines of a batch's input file may use: each line as the same call would by itself. */
export class BatchPlan {
  readonly #models = new Map<string, Gathered>();
  #unbounded: Unbounded | undefined;

  /** @param endpoint of the batch, for lines that name none */
  constructor(
    private readonly context: ProviderContext,
    private readonly endpoint: string | undefined,
  ) {}

  get plan(): JobPlan {
    const parts: readonly PlannedCalls[] = [...this.#models].map(([model, gathered]) => ({ model, ...gathered }));
    return { parts, unbounded: this.#unbounded };
  }

  /** What the file cannot say. */
  leaveOpen(reason: string): void {
    this.#unbounded ??= { field: FIELD, reason };
  }

  addLine(line: Buffer, number: number): void {
    try {
      const { url } = readMembers(line, LINE_MEMBERS);
      const path = stringOrUndefined(url);
      // Servers differ in which one counts.
      if (path !== undefined && this.endpoint !== undefined && pathOf(path) !== pathOf(this.endpoint))
        return this.leaveOpen(`line ${number} has another url than the batch`);
      const body = memberText(line, 'body');
      const target = path ?? this.endpoint ?? '';
      switch (pathOf(target)) {
        case '/chat/completions':
          return this.#add(openaiChat, body, number);
        case '/completions':
          return this.#add(openaiCompletions, body, number);
        case '/responses':
          return this.#add(openaiResponses, body, number);
        case '/embeddings':
          return this.#add(openaiEmbeddings, body, number);
        default:
          this.leaveOpen(`line ${number} has a url whose calls have no bound`);
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.leaveOpen(`line ${number} cannot be read`);
    }
  }

  #add<Facts extends InferenceFacts>(dialect: Dialect<Facts>, body: Buffer | undefined, number: number): void {
    if (body === undefined) return this.leaveOpen(`line ${number} has no body`);
    const facts = dialect.readFacts(readMembers(body, dialect.members), body);
    const known = this.#models.get(facts.model) ?? this.#begin(facts.model);
    if (known === undefined) return this.leaveOpen(`more than ${MAX_MODELS} models`);
    const { knownModel, calls, mayUse } = known;
    const { unit, counts, unbounded } = dialect.estimate({ facts, bytes: body, knownModel, hidesReasoning: true });
    known.unit = unit;
    if (unbounded !== undefined) this.leaveOpen(`line ${number}: ${unbounded}`);
    calls.push(counts);
    for (const unit of dialect.mayUse ?? []) mayUse.add(unit);
  }

  #begin(model: string): Gathered | undefined {
    if (this.#models.size === MAX_MODELS) return undefined;
    const { provider } = this.context.virtualKey;
    const knownModel = modelFacts(provider.slug, pricedModel(this.context, model));
    const begun: Gathered = { unit: 'input', calls: [], mayUse: new Set(), knownModel };
    this.#models.set(model, begun);
    return begun;
  }
}

/** Azure's endpoints have no version. */
function pathOf(url: string): string {
  return url.replace(/^\/v1(?=\/)/, '');
}
