import type { SealedPlace } from '../sealing/sealer.js';

/** Where sealed bodies are kept: a folder, or a bucket. Days are UTC, as `2026-11-29`. */
export interface BodyStore {
  /** Replaces what is there. */
  put(key: BodyKey, sealed: string): Promise<void>;
  /** Undefined: there is none. */
  get(key: BodyKey): Promise<string | undefined>;
  /** The days that have something. */
  days(): Promise<readonly string[]>;
  /** @param isStopping asked in between: the rest can wait */
  deleteDay(day: string, isStopping: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** Of the bodies of one call. */
export interface BodyKey {
  readonly organisationId: string;
  /** Of the row of the call. */
  readonly id: string;
  /** All of a day are deleted together, after its end. */
  readonly day: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_LENGTH = 10;

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, DAY_LENGTH);
}

/** Whether a name in the store is a day: there may be other things beside. */
export function isDay(name: string): boolean {
  return DAY.test(name);
}

/** Bodies that are copied to another call do not open there. */
export function placeOf({ organisationId, id }: BodyKey): SealedPlace {
  return { organisationId, table: 'request_logs', rowId: id, field: 'bodies' };
}
