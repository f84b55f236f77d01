import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../common/json/read.js';
import type { PriceMode } from '../../usage/prices/price.types.js';
import type { Counts, QuantityUnit } from '../../usage/units.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import type { ProviderObjectKind } from '../relay/relay-route.js';

/** What a job may do with one model. */
export interface PlannedCalls {
  /** As the provider knows it. */
  readonly model: string;
  /** What the provider bills by. */
  readonly unit: QuantityUnit;
  /** The bound of each call. */
  readonly calls: readonly Counts[];
  /** Units that a call may use besides. */
  readonly mayUse: ReadonlySet<QuantityUnit>;
}

/** What leaves open how much a job may use. */
export interface Unbounded {
  /** Of the request. */
  readonly field: string;
  readonly reason: string;
}

export interface JobPlan {
  readonly parts: readonly PlannedCalls[];
  readonly unbounded?: Unbounded | undefined;
}

/** What a job has used of a model. */
export interface DoneCalls {
  /** As the provider names it; undefined: it does not say. */
  readonly model: string | undefined;
  /** Of each call, or their sum. */
  readonly calls: readonly Counts[];
}

/** What one kind of job is, for the part of the gateway that meters all of them. */
export interface DeferredMeter {
  /** For policies and the ledger. */
  readonly endpoint: string;
  /** That starts a job. */
  readonly operation: string;
  readonly kind: ProviderObjectKind;
  /** In which its calls are billed. */
  readonly mode: PriceMode;
  isMeteredAt(provider: string): boolean;
  /** Never rejects. @param body of the request that starts the job */
  planOf(context: ProviderContext, body: JsonObject): Promise<JobPlan>;
  /** Fields of the request that the provider's object repeats: by them a job is found whose create was not answered. */
  traitsOf(body: JsonObject): JsonObject;
  /** How long the job may take. */
  lifetimeMs(body: JsonObject): number;
  /** One job, as the API shows it; without an id, the newest ones. */
  read(context: ProviderContext, upstreamId: string | null): Promise<readonly JsonObject[]>;
  isOver(object: JsonObject): boolean;
  /**
   * What a job that is over has used; undefined: it cannot be known.
   * @param isSumEnough asked with the model that the provider names: whether the sum of its calls says what they cost
   */
  usageOf(
    context: ProviderContext,
    object: JsonObject,
    isSumEnough: (model: string | undefined) => Promise<boolean>,
  ): Promise<readonly DoneCalls[] | undefined>;
}

/** The kinds of jobs that are metered: the rooms announce theirs. */
@Injectable()
export class DeferredMeters {
  readonly #meters: DeferredMeter[] = [];

  add(meter: DeferredMeter): void {
    this.#meters.push(meter);
  }

  ofKind(kind: ProviderObjectKind): DeferredMeter | undefined {
    return this.#meters.find((meter) => meter.kind === kind);
  }

  ofOperation(operation: string, provider: string): DeferredMeter | undefined {
    return this.#meters.find((meter) => meter.operation === operation && meter.isMeteredAt(provider));
  }
}
