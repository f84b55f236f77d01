import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../common/json/read.js';
import type { PriceMode } from '../../usage/prices/price.types.js';
import type { Counts, QuantityUnit } from '../../usage/units.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import type { ProviderObjectKind } from '../relay/relay-route.js';
import type { ProviderJob } from './provider-job.entity.js';

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
  /** What was read may be another thing when the job reads it: a report above the plan is believed. */
  readonly mayChange?: true;
  readonly unbounded?: Unbounded | undefined;
}

/** What a job has used of a model. */
export interface DoneCalls {
  /** As the provider names it; undefined: it does not say. */
  readonly model: string | undefined;
  /** Of each call, or their sum. */
  readonly calls: readonly Counts[];
}

/** The request that starts a job, or goes on with one. */
export interface JobRequest {
  /** Of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Of the request. Where a job goes on, the provider's object, which has the same fields. */
  readonly body: JsonObject;
}

/** By which a job is read at its provider. */
export type JobName = Pick<ProviderJob, 'upstreamId' | 'traits'>;

/** What one kind of job is, for the part of the gateway that meters all of them. */
export interface DeferredMeter {
  /** For policies and the ledger. */
  readonly endpoint: string;
  /** Those that start a job, or go on with one. */
  readonly operations: readonly string[];
  readonly kind: ProviderObjectKind;
  /** In which its calls are billed. */
  readonly mode: PriceMode;
  isMeteredAt(provider: string): boolean;
  /** The provider never says what a job has used: it is charged its plan, also where no limit applies. */
  readonly chargesBound?: true;
  /** @throws GatewayError `validation_failed` for what the provider would refuse */
  planOf(context: ProviderContext, request: JobRequest): Promise<JobPlan>;
  /** What a job may use more each time that a caller goes on with it; absent: nothing. Never rejects. */
  stepOf?(context: ProviderContext, request: JobRequest): Promise<JobPlan>;
  /** Fields of the request that the provider's object repeats: by them a job is found whose create was not answered. */
  traitsOf(request: JobRequest): JsonObject;
  /** How long after its create the job may be looked for, and what it has not used stay reserved. */
  lifetimeMs(body: JsonObject): number;
  /** Names the job of an object; undefined: it has no name. */
  idOf(object: JsonObject): string | undefined;
  /** Names the job that a request goes on with. */
  idIn?(params: JobRequest['params']): string;
  /** Events with an object of a job as their data, where answers may be streams of events. */
  readonly events?: RegExp;
  /** One job, as the API shows it; without an id, the newest ones. */
  read(context: ProviderContext, job: JobName): Promise<readonly JsonObject[]>;
  isOver(object: JsonObject): boolean;
  /** The object of a job that is over says itself what was used: each read of it settles the job. */
  readonly showsUsage?: true;
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

  ofKind(kind: ProviderObjectKind, provider: string): DeferredMeter | undefined {
    return this.#meters.find((meter) => meter.kind === kind && meter.isMeteredAt(provider));
  }

  ofOperation(operation: string, provider: string): DeferredMeter | undefined {
    return this.#meters.find((meter) => meter.operations.includes(operation) && meter.isMeteredAt(provider));
  }
}
