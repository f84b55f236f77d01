import { withoutUndefined } from '../common/without-undefined.js';

/** The fields that a body gives a resource, by their names in the API. Which organisation it acts for is none of them. */
export function namedFields(dto: object): readonly string[] {
  return Object.keys(withoutUndefined(dto)).filter((name) => name !== 'organisation_id');
}
