import { Inject, Injectable } from '@nestjs/common';
import { assertScope } from '../../access/scopes.js';
import type { Principal } from '../../access/principal.js';
import { Authenticator } from '../../api-keys/authenticator.js';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import type { McpServerIdentity } from '../config/identity-config.js';
import type { RawHeader } from '../headers/raw-headers.js';
import type { McpAuthenticator, McpEvidence, McpRequest } from './mcp-authenticator.js';
import { keyIn } from './mcp-credentials.js';

const SCOPE = 'mcp.invoke';

/** Authenticates a gateway key with the scope `mcp.invoke`. */
@Injectable()
export class ApiKeyAuthenticator implements McpAuthenticator {
  constructor(@Inject(Authenticator) private readonly authenticator: Pick<Authenticator, 'ownerOf' | 'knownOwnerOf'>) {}

  authenticate(request: McpRequest, _server: McpServerIdentity, now: Date): MaybePromise<McpEvidence | undefined> {
    const owner = request.keyOwner ?? this.keyOwnerOf(request.headers, now);
    return chain(owner, (keyOwner) => keyOwner && { kind: 'api_key', keyOwner });
  }

  /** @throws GatewayError `api_key_invalid`, `permission_denied`, `rate_limited` unless the request was counted already */
  keyOwnerOf(headers: readonly RawHeader[], now: Date, wasCounted = false): MaybePromise<Principal | undefined> {
    const key = keyIn(headers);
    if (key === undefined) return undefined;
    const owner = wasCounted ? this.authenticator.knownOwnerOf(key, now) : this.authenticator.ownerOf(key, now);
    return chain(owner, withScope);
  }
}

function withScope(owner: Principal): Principal {
  assertScope(owner, SCOPE);
  return owner;
}
