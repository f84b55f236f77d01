import type { JsonObject } from '../../common/json/read.js';

/**
 * Maps a provider's status to OpenAI's. The provider's own word is returned too where it differs.
 * @param statuses OpenAI's status by the provider's word in lower case
 * @param later for a status that the provider adds later; it must not end a client's polling
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
