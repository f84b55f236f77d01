import { Injectable } from '@nestjs/common';
import { Metrics } from '../telemetry/metrics.js';
import { StoreFailures } from '../telemetry/store-failures.js';
import type { UsageObserver } from './usage-observer.js';

type Decision = Parameters<UsageObserver['decided']>[0];

const RESULTS = {
  admitted: 'admit',
  exceeded: 'exceeded',
  contended: 'contended',
  crowded: 'crowded',
  unavailable: 'store_down',
} as const satisfies Record<Decision, string>;

/** Reports the work of the usage store to Prometheus. */
@Injectable()
export class UsageMetrics implements UsageObserver {
  constructor(
    private readonly metrics: Metrics,
    private readonly storeFailures: StoreFailures,
  ) {}

  batchDone(size: number, seconds: number): void {
    this.metrics.limitBatchSize.observe(size);
    this.metrics.limitBatchSeconds.observe(seconds);
  }

  batchFailed(cause: unknown): void {
    this.storeFailures.note(cause);
    this.metrics.limitBatchFailures.inc();
  }

  decided(decision: Decision): void {
    this.metrics.limitDecisions.inc({ result: RESULTS[decision] });
  }

  dropped(count: number): void {
    this.metrics.usageDropped.inc(count);
  }

  reaped(count: number): void {
    this.metrics.reservationsReaped.inc(count);
  }

  reservationsOpen(count: number): void {
    this.metrics.reservationsOpen.set(count);
  }
}
