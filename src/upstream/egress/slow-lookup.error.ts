/** The outcome of a name look-up. It continues the sentence "the name look-up of <host>". */
export type SlowLookupProblem = 'takes too long' | 'waited in vain for others that take too long';

/** Thrown when a host name was not resolved in time. Names the host, so that the right one is blamed. */
export class SlowLookupError extends Error {
  constructor(problem: SlowLookupProblem, host: string) {
    super(`the name look-up of ${host} ${problem}`);
    this.name = 'SlowLookupError';
  }
}
