/** How many reports may run at once. */
export interface ReportSlotsLimits {
  readonly all: number;
  /** The limit per organisation. When it is less than `all`, no organisation can lock the others out. */
  readonly each: number;
  /** How long a report waits for its turn, in milliseconds. */
  readonly waitMs: number;
}

interface Waiting {
  readonly organisationId: string;
  readonly begin: () => void;
}

/**
 * Limits the number of concurrent reports. First come, first served, but an organisation at its own limit is skipped.
 */
export class ReportSlots {
  /** The organisations of the running reports. */
  private readonly running: string[] = [];
  private readonly waiting = new Set<Waiting>();

  constructor(private readonly limits: ReportSlotsLimits) {}

  /** Waits for a slot. Returns true when the report may begin; then `end` must follow. Returns false after `waitMs`. */
  async begin(organisationId: string): Promise<boolean> {
    if (this.hasRoom(organisationId)) {
      this.running.push(organisationId);
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
    this.running.splice(this.running.indexOf(organisationId), 1);
    // A report that ends makes room for at most one other.
    for (const waiting of this.waiting) {
      if (!this.hasRoom(waiting.organisationId)) continue;
      this.running.push(waiting.organisationId);
      return waiting.begin();
    }
  }

  private hasRoom(organisationId: string): boolean {
    const { all, each } = this.limits;
    const own = this.running.filter((running) => running === organisationId);
    return this.running.length < all && own.length < each;
  }
}
