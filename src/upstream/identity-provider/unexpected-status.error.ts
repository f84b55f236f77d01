/** An identity provider answered with a status that says that it did not do what it was asked. */
export class UnexpectedStatusError extends Error {
  constructor(readonly status: number) {
    super(`expected status 200, not ${status}`);
    this.name = 'UnexpectedStatusError';
  }
}
