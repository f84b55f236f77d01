import { Inject, Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway.error.js';
import type { JsonObject } from '../../common/json/read.js';
import { uuidv7 } from '../../common/uuid.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { canonicalModel } from '../../usage/model-names.js';
import type { Price } from '../../usage/prices/price.types.js';
import { type Counts, fromQuantitiesJson, QUANTITY_UNITS } from '../../usage/units.js';
import type { AttemptOutcome, FigureSource } from '../../usage/usage-store.types.js';
import { isCountable } from '../../usage/units.js';
import { aboveBound } from '../call-cost.js';
import { pricedModel, type ProviderContext } from '../provider-context.decorator.js';
import { CallPrices } from '../usage-meter.js';
import type { DeferredMeter, DoneCalls } from './deferred-meter.js';
import { TooLargeError } from './line-reader.js';
import { costOfCalls, isSumEnough, reportAll } from './many-calls.js';
import { ResultsMissingError } from './provider-files.js';
import { figuresJson, type JobPart, type PartCharge, type ProviderJob } from './provider-job.entity.js';

/** The most models of a job whose model is not known. Each model in its results gets a row in the ledger. */
const MAX_MODELS = 16;
/** The length of the column in the ledger. */
const MAX_MODEL_CHARACTERS = 255;

/** The usage of one part of a job. */
interface Share {
  readonly part: Pick<JobPart, 'id' | 'model' | 'soldAs' | 'bound' | 'isBounded'>;
  readonly calls: readonly Counts[];
}

/** Computes the charge of each part of a job. */
@Injectable()
export class JobCharges {
  constructor(
    private readonly prices: CallPrices,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /**
   * The charges of a finished job.
   * @throws the error of reading its usage
   */
  async ofResult(
    job: ProviderJob,
    meter: DeferredMeter,
    context: ProviderContext,
    object: JsonObject,
  ): Promise<readonly PartCharge[]> {
    const [first, ...others] = job.parts;
    const sumIsEnough = async (named: string | undefined): Promise<boolean> => {
      const model = first?.model ?? named;
      if (others.length > 0 || model === undefined) return false;
      return isSumEnough(await this.pricesOf(job, context, model, first?.soldAs));
    };
    const done = await meter
      .usageOf(context, object, sumIsEnough)
      .catch((error: unknown) => this.unknownIfLost(job, error));
    const shares = done === undefined ? undefined : sharesOf(job, done);
    if (shares === undefined) return boundsOf(job, 'computed', 'answered');
    return Promise.all(shares.map((share) => this.charge(job, meter, context, share)));
  }

  /** Results that are missing or too large stay so, and reading them again is useless. */
  private unknownIfLost({ id, kind, provider }: ProviderJob, error: unknown): undefined {
    if (error instanceof ResultsMissingError)
      this.logger.warn({ event: 'provider_job_results_missing', job_id: id, kind, provider });
    else if (!(error instanceof TooLargeError)) throw error;
  }

  private async charge(
    job: ProviderJob,
    { mode }: DeferredMeter,
    context: ProviderContext,
    { part: { id, model, soldAs, bound, isBounded }, calls }: Share,
  ): Promise<PartCharge> {
    const bounded = fromQuantitiesJson(bound.quantities);
    if (!reportAll(calls, bounded)) return { id, model, ...bound, source: 'computed', outcome: 'answered' };
    const prices = model === null ? [] : await this.pricesOf(job, context, model, soldAs);
    const { figures, rate } = costOfCalls({ unit: 'input', mode, calls }, prices);
    const above = isBounded ? aboveBound(figures.quantities, bounded) : undefined;
    if (above !== undefined) this.prices.countAboveBound(job.provider, above);
    if (above === 'capped' || !isCountable(figures))
      return { id, model, ...bound, source: 'capped', outcome: 'answered' };
    this.prices.countCharged(job.provider, figures.quantities);
    const source = calls.length === 0 ? 'computed' : 'provider';
    return { id, model, ...figuresJson(figures), rate, source, outcome: 'answered' };
  }

  /** The prices at the time when the job was admitted. */
  private async pricesOf(
    job: ProviderJob,
    context: ProviderContext,
    model: string,
    soldAs: JobPart['soldAs'],
  ): Promise<readonly Price[]> {
    const priced = soldAs ?? pricedModel(context, model);
    const found = await this.prices.pricesFor(job.organisationId, job.provider, priced, job.at, QUANTITY_UNITS);
    if (found === undefined) throw new GatewayError('store_unavailable', { reason: 'prices' });
    return found;
  }
}

/** Charges the bound of each part, when its usage is not known. */
export function boundsOf(
  { parts }: Pick<ProviderJob, 'parts'>,
  source: FigureSource,
  outcome: AttemptOutcome,
): readonly PartCharge[] {
  return parts.map(({ id, model, bound }) => ({ id, model, ...bound, source, outcome }));
}

/** The usage by part; undefined when it cannot be assigned to the parts. */
function sharesOf({ parts, provider }: ProviderJob, done: readonly DoneCalls[]): readonly Share[] | undefined {
  const [only, ...others] = parts;
  if (only === undefined) return [];
  if (others.length === 0) {
    const all = done.flatMap(({ calls }) => calls);
    if (only.isReserved || done.length === 0) return [{ part: only, calls: all }];
    if (done.length > MAX_MODELS) return undefined;
    // No reservation names a model, so each model gets a row of its own.
    return done.map(({ model = only.model, calls }, index) => ({
      part: {
        ...only,
        model: model?.slice(0, MAX_MODEL_CHARACTERS) ?? null,
        id: index === 0 ? only.id : uuidv7(new Date()),
      },
      calls,
    }));
  }
  const owners = done.map(({ model }) => partOf(parts, provider, model));
  if (owners.includes(undefined)) return undefined;
  return parts.map((part) => ({
    part,
    calls: done.flatMap(({ calls }, index) => (owners[index] === part ? calls : [])),
  }));
}

/** The part whose model this is. A provider may report a version of it: `gpt-4o-mini-2024-07-18`. */
function partOf(parts: readonly JobPart[], provider: string, model: string | undefined): JobPart | undefined {
  if (model === undefined) return undefined;
  const answered = canonicalModel(provider, model);
  let best: JobPart | undefined;
  for (const part of parts) {
    const own = canonicalModel(provider, part.model ?? '');
    const isMeant = answered === own || answered.startsWith(`${own}-`);
    if (isMeant && own.length > (best?.model?.length ?? 0)) best = part;
  }
  return best;
}
