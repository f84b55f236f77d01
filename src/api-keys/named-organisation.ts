import type { Request } from 'express';
import { invalidField } from '../common/errors/gateway.error.js';
import { isObject } from '../common/json/read.js';
import { foldId, isUuid } from '../common/uuid.js';

/**
 * The organisation that a request names, in its body or its query; undefined when it names none as a string. UUIDs are the same
 * in letters of either case, and secrets are sealed for the one that the database knows.
 * @throws GatewayError `validation_failed` for two that differ, and for one that is not a UUID
 */
export function namedOrganisation(request: Request): string | undefined {
  const body: unknown = request.body;
  const givenInBody = isObject(body) ? body['organisation_id'] : undefined;
  const givenInQuery = request.query['organisation_id'];
  const inBody = typeof givenInBody === 'string' ? foldId(givenInBody) : undefined;
  const inQuery = typeof givenInQuery === 'string' ? foldId(givenInQuery) : undefined;
  if (inBody !== undefined && inQuery !== undefined && inBody !== inQuery) {
    throw invalidField('organisation_id', 'must be the same in the body and in the query');
  }
  const named = inBody ?? inQuery;
  if (named !== undefined && !isUuid(named)) throw invalidField('organisation_id', 'must be a UUID');
  return named;
}
