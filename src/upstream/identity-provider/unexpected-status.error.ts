/** Thrown when an identity provider answers with another status than 200. */
export class UnexpectedStatusError extends Error {
  constructor(readonly status: number) {
    super(`expected status 200, not ${status}`);
    this.name = 'UnexpectedStatusError';
  }
}
