import type { Clock } from '../../common/time/clock.js';
import { JwksClient } from './jwks-client.js';
import { UnexpectedStatusError } from './unexpected-status.error.js';

const ACCEPT = 'application/json, application/jwk-set+json';

/** @param fetchGuarded bounded in time and size, by the egress rules */
export function remoteKeySet(url: string, fetchGuarded: typeof fetch, clock: Clock): JwksClient {
  const fetchKeySet = async (): Promise<unknown> => {
    const response = await fetchGuarded(url, { headers: { accept: ACCEPT } });
    if (response.status !== 200) throw new UnexpectedStatusError(response.status);
    return response.json();
  };
  return new JwksClient(fetchKeySet, () => clock.monotonic());
}
