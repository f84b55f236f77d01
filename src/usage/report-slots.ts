/** How many reports may run at once. */
export interface ReportSlotsLimits {
  readonly all: number;
  /** Of one organisation. Where this is less than all, no organisation can shut the others out. */
  readonly each: number;
  /** How long a report waits for its turn, in milliseconds. */
  readonly waitMs: number;
}

interface Waiting {
  readonly organisationId: string;
  readonly begin: () => void;
}

/** Lets few reports run at once. Whoever waits comes in the order of coming, but for an organisation that has enough. */
export class ReportSlots {
  private running = 0;
  private readonly runningOf = new Map<string, number>();
  private readonly waiting = new Set<Waiting>();

  constructor(private readonly limits: ReportSlotsLimits) {}

  /** Whether a report may begin, now or soon; then `end` must follow. `false` when others were at it for too long. */
  async begin(organisationId: string): Promise<boolean> {
    if (this.hasRoom(organisationId)) {
      this.count(organisationId, 1);
      return true;
    }
    return new Promise((resolve) => {
      const leave = (mayBegin: boolean): void => {
        clearTimeout(timer);
        this.waiting.delete(own);
        resolve(mayBegin);
      };
      const own: Waiting = { organisationId, begin: () => leave(true) };
      const timer = setTimeout(() => leave(false), this.limits.waitMs);
      this.waiting.add(own);
    });
  }

  end(organisationId: string): void {
    this.count(organisationId, -1);
    // One report less leaves room for one more at most.
    for (const waiting of this.waiting) {
      if (!this.hasRoom(waiting.organisationId)) continue;
      this.count(waiting.organisationId, 1);
      return waiting.begin();
    }
  }

  private hasRoom(organisationId: string): boolean {
    return this.running < this.limits.all && this.countOf(organisationId) < this.limits.each;
  }

  private count(organisationId: string, change: 1 | -1): void {
    this.running += change;
    const left = this.countOf(organisationId) + change;
    if (left === 0) this.runningOf.delete(organisationId);
    else this.runningOf.set(organisationId, left);
  }

  private countOf(organisationId: string): number {
    return this.runningOf.get(organisationId) ?? 0;
  }
}
