import type { GatewayError } from '../../common/errors/gateway.error.js';
import type { Clock } from '../../common/time/clock.js';
import { JwksClient } from './jwks-client.js';
import { UnexpectedStatusError } from './unexpected-status.error.js';

const ACCEPT = 'application/json, application/jwk-set+json';

export interface RemoteKeySetOptions {
  /** Bounded in time and size, by the egress rules. */
  readonly fetchGuarded: typeof fetch;
  readonly clock: Clock;
  readonly logger: { warn(line: object): void };
}

export function remoteKeySet(url: string, { fetchGuarded, clock, logger }: RemoteKeySetOptions): JwksClient {
  const fetchKeySet = async (): Promise<unknown> => {
    const response = await fetchGuarded(url, { headers: { accept: ACCEPT } });
    if (response.status !== 200) throw new UnexpectedStatusError(response.status);
    return response.json();
  };
  const onFailure = ({ reason }: GatewayError): void => {
    logger.warn({ event: 'key_set_not_fetched', host: new URL(url).host, reason });
  };
  return new JwksClient({ fetchKeySet, now: () => clock.monotonic(), onFailure });
}
