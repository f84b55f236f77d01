import { GatewayError } from '../common/errors/gateway.error.js';

/** Secrets were read, but are no values for the fields that they are mapped to. */
export class MappedValuesError extends Error {
  constructor(fields: Iterable<string>) {
    super(`not valid: ${[...fields].join(', ')}`);
    this.name = 'MappedValuesError';
  }
}

/** What the caller of `owner` is told; its log line names the fields. */
export function mappedValuesNotValid(owner: string, fields: Iterable<string>): GatewayError {
  const cause = new MappedValuesError(fields);
  const reason = `with the values of its secret references the ${owner} is ${cause.message}`;
  return new GatewayError('secret_unavailable', { reason, cause });
}
