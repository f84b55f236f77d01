import { identityProviderUnavailable } from '../../common/errors/gateway.error.js';

export interface SemaphoreLimits {
  /** Tasks per key that run at a time. */
  readonly running: number;
  /** Tasks per key that may wait. */
  readonly waiting: number;
  /** Longest wait. */
  readonly patienceMs: number;
}

interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

/** Limits concurrent tasks per key, so that a flood of unknown tokens does not become a flood of requests to the provider. */
export class KeyedSemaphore {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly limits: SemaphoreLimits) {}

  /**
   * Runs a task when its key has a place.
   * @throws GatewayError `identity_provider_unavailable` when it gets no place in time
   */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const lane = this.lanes.get(key) ?? { running: 0, waiting: new Set() };
    this.lanes.set(key, lane);
    if (lane.running >= this.limits.running) await this.placeIn(lane);
    else lane.running += 1;
    try {
      return await task();
    } finally {
      this.leave(key, lane);
    }
  }

  private placeIn({ waiting }: Lane): Promise<void> {
    const tooMany = (): Error => identityProviderUnavailable('too many questions to the introspection endpoint');
    if (waiting.size >= this.limits.waiting) throw tooMany();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(go);
        reject(tooMany());
      }, this.limits.patienceMs);
      const go = (): void => {
        clearTimeout(timer);
        waiting.delete(go);
        resolve();
      };
      waiting.add(go);
    });
  }

  /** The place goes to the task that has waited longest. */
  private leave(key: string, lane: Lane): void {
    const [next] = lane.waiting;
    if (next !== undefined) return next();
    lane.running -= 1;
    if (lane.running === 0) this.lanes.delete(key);
  }
}
