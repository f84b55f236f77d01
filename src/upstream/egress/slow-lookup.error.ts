/** What became of a name look-up; reads on from "the name look-up of <host>". */
export type SlowLookupProblem = 'takes too long' | 'waited in vain for others that take too long';

/** The name of a host was not looked up in time. Names the host, so that the right one is blamed. */
export class SlowLookupError extends Error {
  constructor(problem: SlowLookupProblem, host: string) {
    super(`the name look-up of ${host} ${problem}`);
    this.name = 'SlowLookupError';
  }
}
