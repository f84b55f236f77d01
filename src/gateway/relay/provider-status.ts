import type { JsonObject } from '../../common/json/read.js';

/**
 * The status of the interface for a provider's own, which is told as well where it is another word.
 * @param statuses by the provider's words in lower case
 * @param later for a status that the provider adds one day: it must not end a client's waiting
 */
export function fromProviderStatus<Status extends string>(
  given: unknown,
  statuses: ReadonlyMap<string, Status>,
  later: Status,
): { readonly status: Status | null; readonly tollgate?: JsonObject } {
  if (typeof given !== 'string') return { status: null };
  const status = statuses.get(given.toLowerCase()) ?? later;
  return status === given ? { status } : { status, tollgate: { provider_status: given } };
}
