import { withoutUndefined } from '../common/without-undefined.js';

/** Names, as in the API, of the fields that a body sets. `organisation_id` is left out: it only chooses the tenant. */
export function namedFields(dto: object): readonly string[] {
  return Object.keys(withoutUndefined(dto)).filter((name) => name !== 'organisation_id');
}
