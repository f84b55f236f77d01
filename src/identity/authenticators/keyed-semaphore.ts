import { identityProviderUnavailable } from '../../common/errors/identity-provider-unavailable.js';

export interface QuestionLimits {
  /** Questions of one lane at a time. */
  readonly running: number;
  /** How many more may wait for their turn. */
  readonly waiting: number;
  /** For how long. */
  readonly patienceMs: number;
}

interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

/** Keeps a flood of tokens that nobody knows from becoming a flood of questions to the provider. */
export class KeyedSemaphore {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly limits: QuestionLimits) {}

  /**
   * @param name of the lane: questions of one lane wait for each other, and for no others
   * @throws GatewayError `identity_provider_unavailable` when its turn does not come in time
   */
  async ask<Answer>(name: string, question: () => Promise<Answer>): Promise<Answer> {
    const lane = this.lanes.get(name) ?? { running: 0, waiting: new Set() };
    this.lanes.set(name, lane);
    if (lane.running >= this.limits.running) await this.turnIn(lane);
    else lane.running += 1;
    try {
      return await question();
    } finally {
      this.leave(name, lane);
    }
  }

  private turnIn({ waiting }: Lane): Promise<void> {
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

  /** The place goes to whoever has waited longest. */
  private leave(name: string, lane: Lane): void {
    const [next] = lane.waiting;
    if (next !== undefined) return next();
    lane.running -= 1;
    if (lane.running === 0) this.lanes.delete(name);
  }
}
