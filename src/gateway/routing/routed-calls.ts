import { Injectable } from '@nestjs/common';
import type { ErrorCode } from '../../common/errors/error-codes.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { withMember } from '../../common/json/scan.js';
import { Clock } from '../../common/time/clock.js';
import { Metrics } from '../../telemetry/metrics.js';
import type { KnownTarget } from '../../model-routes/target-terms.js';
import { TargetHealth } from '../../model-routes/target-health.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import { VirtualKeyFinder } from '../virtual-key.finder.js';
import { noteDestination, setDestinationHeaders } from './destination.js';
import { failedTarget } from './failed-target.js';

const INTERNAL: ErrorCode = 'internal_error';
/** The number of targets that were tried. */
const ATTEMPTS_HEADER = 'x-gateway-attempts';

/** Sends a call to one target of its model route. */
export type RoutedAttempt<Result> = (context: ProviderContext, route: AttemptOfRoute) => Promise<Result>;

export interface AttemptOfRoute {
  /** The target provider's name of the model; undefined when the call is not routed. */
  readonly model: string | undefined;
  /** Whether other targets can take the call. Then no part of a failure may reach the client. */
  readonly hasNext: boolean;
  /** Whether the call is not retried at this target: there are other targets, or this one is failing. */
  readonly isTriedOnce: boolean;
  /** The target's own limit in milliseconds until the answer begins. */
  readonly timeoutMs: number | undefined;
}

interface NextTarget {
  readonly context: ProviderContext;
  readonly target: KnownTarget;
  /** The targets that get the call when this one fails too. */
  readonly others: readonly KnownTarget[];
}

const UNROUTED: AttemptOfRoute = { model: undefined, hasNext: false, isTriedOnce: false, timeoutMs: undefined };

/** Runs calls of model routes. When a target fails, the next one gets the call, unless the answer has begun. */
@Injectable()
export class RoutedCalls {
  constructor(
    private readonly finder: VirtualKeyFinder,
    private readonly health: TargetHealth,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {}

  /** @throws the error of the last target that could take the call */
  async run<Result>(context: ProviderContext, attempt: RoutedAttempt<Result>): Promise<Result> {
    const route = context.modelNames?.route;
    if (route === undefined) return attempt(context, UNROUTED);
    const { answer } = context;
    const given = answer.getHeaderNames();
    let current = context;
    let { target, others } = route;
    let failure: unknown;
    for (let attempts = 1; ; attempts += 1) {
      // Other calls may have succeeded or failed since the targets were ordered.
      const better = this.isHealthy(target) ? undefined : await this.next(current, this.healthyFirst(target, others));
      if (better !== undefined && better.target !== target) {
        ({ context: current, target, others } = better);
        this.reportDestination(current, target);
      }
      answer.setHeader(ATTEMPTS_HEADER, String(attempts));
      const hasNext = others.length > 0;
      // Read before `begin`, which makes this call the probe of a target that was failing.
      const isTriedOnce = hasNext || !this.isHealthy(target);
      this.health.begin(target.healthKey, this.now());
      try {
        const { model, timeoutMs } = target;
        const result = await attempt(current, { model, hasNext, isTriedOnce, timeoutMs });
        this.health.end(target.healthKey, 'answered', this.now());
        return result;
      } catch (error) {
        const now = this.now();
        const { outcome, mayFailOver, pauseMs } = failedTarget(error, now);
        this.health.end(target.healthKey, outcome, now, pauseMs);
        // The error of a target that tried the call takes precedence over one that could not take it.
        if (failure === undefined || outcome !== 'unknown' || !mayFailOver) failure = error;
        if (!mayFailOver || answer.headersSent || answer.destroyed) throw failure;
        const found = await this.next(current, others);
        if (found === undefined) throw failure;
        this.noteFailover(current, target, error);
        ({ context: current, target, others } = found);
      }
      for (const name of answer.getHeaderNames()) if (!given.includes(name)) answer.removeHeader(name);
      this.reportDestination(current, target);
    }
  }

  private isHealthy({ healthKey }: KnownTarget): boolean {
    return this.health.isHealthy(healthKey, this.now());
  }

  /** The targets with the healthy ones first; empty where no other target is healthy. */
  private healthyFirst(target: KnownTarget, others: readonly KnownTarget[]): readonly KnownTarget[] {
    const healthy = others.filter((other) => this.isHealthy(other));
    return healthy.length === 0 ? [] : [...healthy, target, ...others.filter((other) => !healthy.includes(other))];
  }

  private reportDestination({ request, virtualKey, answer }: ProviderContext, { model }: KnownTarget): void {
    const destination = { virtualKey, model };
    noteDestination(request, destination);
    setDestinationHeaders(answer, destination);
  }

  private noteFailover({ virtualKey, request }: ProviderContext, { model }: KnownTarget, error: unknown): void {
    const reason = error instanceof GatewayError ? error.code : INTERNAL;
    request.noteFailedTarget(virtualKey.slug, model, reason);
    this.metrics.failovers.inc({ provider: virtualKey.provider.slug, reason });
  }

  /** The next target that can be used; undefined when there is none. */
  private async next(context: ProviderContext, waiting: readonly KnownTarget[]): Promise<NextTarget | undefined> {
    const { modelNames, principal, bytes } = context;
    if (modelNames?.route === undefined || waiting.length === 0) return undefined;
    const found = await this.finder.firstUsable(principal, modelNames.route, waiting).catch((error: unknown) => {
      if (error instanceof GatewayError) return undefined;
      throw error;
    });
    if (found?.route === undefined) return undefined;
    const { virtualKey, route } = found;
    const { target, others } = route;
    const isKept = bytes === undefined || modelNames.isInPath;
    const renamed = isKept ? bytes : withMember(bytes, 'model', target.model);
    return {
      context: { ...context, virtualKey, bytes: renamed, modelNames: { ...modelNames, route } },
      target,
      others,
    };
  }

  private now(): number {
    return this.clock.now().getTime();
  }
}
