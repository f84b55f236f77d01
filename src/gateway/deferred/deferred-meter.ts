import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../common/json/read.js';
import type { PriceMode } from '../../usage/prices/price.types.js';
import type { Counts, QuantityUnit } from '../../usage/units.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import type { ProviderObjectKind } from '../relay/relay-route.js';
import type { ProviderJob } from './provider-job.entity.js';

/** The calls that a job may make to one model. */
export interface PlannedCalls {
  /** The provider's name of the model. */
  readonly model: string;
  /** The unit by which the provider bills. */
  readonly unit: QuantityUnit;
  /** The upper bound of each call. */
  readonly calls: readonly Counts[];
  /** Further units that a call may use. */
  readonly mayUse: ReadonlySet<QuantityUnit>;
}

/** The reason why the usage of a job has no bound. */
export interface Unbounded {
  /** The field of the request that leaves it open. */
  readonly field: string;
  readonly reason: string;
}

export interface JobPlan {
  readonly parts: readonly PlannedCalls[];
  /** The input may change before the job reads it, so a report above the plan is accepted. */
  readonly mayChange?: true;
  readonly unbounded?: Unbounded | undefined;
}

/** The usage of one model by a job. */
export interface DoneCalls {
  /** As the provider names it; undefined when it does not. */
  readonly model: string | undefined;
  /** The usage of each call, or their sum. */
  readonly calls: readonly Counts[];
}

/** A request that starts or continues a job. */
export interface JobRequest {
  /** The path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The body of the request. For a continued job, the provider's object, which has the same fields. */
  readonly body: JsonObject;
}

/** The fields by which a job is read at its provider. */
export type JobName = Pick<ProviderJob, 'upstreamId' | 'traits'>;

/** Describes one kind of job, so that the gateway can meter it. */
export interface DeferredMeter {
  /** The endpoint in policies and in the ledger. */
  readonly endpoint: string;
  /** The operations that start or continue a job. */
  readonly operations: readonly string[];
  readonly kind: ProviderObjectKind;
  /** The mode in which the calls of a job are billed. */
  readonly mode: PriceMode;
  isMeteredAt(provider: string): boolean;
  /** The provider never reports the usage of a job, so its plan is charged, even when no limit applies. */
  readonly chargesBound?: true;
  /**
   * The most that a job may use.
   * @throws GatewayError `validation_failed` for a request that the provider would refuse
   */
  planOf(context: ProviderContext, request: JobRequest): Promise<JobPlan>;
  /**
   * The most that a job may use in addition each time a client continues it; absent when that is nothing. Never
   * rejects.
   */
  stepOf?(context: ProviderContext, request: JobRequest): Promise<JobPlan>;
  /** Fields of the request that the provider's object repeats. They identify a job whose creation was not answered. */
  traitsOf(request: JobRequest): JsonObject;
  /** Milliseconds after the creation during which the job is polled and stays reserved. */
  lifetimeMs(body: JsonObject): number;
  /** The id of the job in an object; undefined when it has none. */
  idOf(object: JsonObject): string | undefined;
  /** The id of the job that a request continues. */
  idIn?(params: JobRequest['params']): string;
  /** The types of events whose data is a job, when answers may be event streams. */
  readonly events?: RegExp;
  /** Reads one job as the API shows it; without an id, the newest ones. */
  read(context: ProviderContext, job: JobName): Promise<readonly JsonObject[]>;
  isOver(object: JsonObject): boolean;
  /** A finished job reports its usage in its own object, so every read of it settles the job. */
  readonly showsUsage?: true;
  /**
   * The usage of a finished job; undefined when it cannot be known.
   * @param isSumEnough gets the model that the provider names; returns whether the sum of its calls decides their cost
   */
  usageOf(
    context: ProviderContext,
    object: JsonObject,
    isSumEnough: (model: string | undefined) => Promise<boolean>,
  ): Promise<readonly DoneCalls[] | undefined>;
}

/** The kinds of jobs that are metered. Each room registers its own. */
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
