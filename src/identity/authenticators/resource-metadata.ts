import { Inject, Injectable } from '@nestjs/common';
import { claimWords } from '../../common/json/read.js';
import { AppConfig } from '../../config/environment.js';
import type { McpServerIdentity } from '../config/identity-config.js';
import { SessionBinding } from '../sessions/session-binding.js';
import { authorizationServers, type ProtectedResourceMetadata, resourceMetadataUrl } from './protected-resource.js';

/** Query parameter of a metadata address that was made for an authenticated caller. */
export const LOGIN_PARAM = 'login';

type LoginPlace = Pick<McpServerIdentity, 'resource' | 'jwtValidation'>;

/**
 * The metadata of MCP servers (RFC 9728). Clients need them before they have a credential, so everybody gets the same for every
 * name: where the gateway's own authorization server is. A server with an identity provider of its own looks like that too,
 * unless its definition advertises the provider. Authenticated callers get an address whose query names the provider and is
 * bound to the resource: nothing is looked up, and only the gateway can make one.
 */
@Injectable()
export class ResourceMetadata {
  constructor(
    private readonly config: AppConfig,
    @Inject(SessionBinding) private readonly binding: Pick<SessionBinding, 'bind' | 'unbind'>,
  ) {}

  /** For `resource_metadata` of a challenge. Undefined when there is nowhere to log in. */
  addressFor(server: LoginPlace, isKnownCaller: boolean): string | undefined {
    const open = this.openServers(server);
    const servers = isKnownCaller ? authorizationServers(server, this.config) : open;
    if (servers.length === 0) return undefined;
    const address = resourceMetadataUrl(server.resource);
    if (servers.join() === open.join()) return address;
    const login = this.binding.bind(Buffer.from(JSON.stringify(servers)).toString('base64url'), ownerOf(server));
    return login === undefined ? address : `${address}?${LOGIN_PARAM}=${login}`;
  }

  /** Undefined when there is nowhere to log in. */
  read(server: LoginPlace, login: string | undefined): ProtectedResourceMetadata | undefined {
    const servers = (login === undefined ? undefined : this.serversIn(login, server)) ?? this.openServers(server);
    if (servers.length === 0) return undefined;
    const { MCP_OAUTH_SCOPES: scopes } = this.config;
    return {
      resource: server.resource,
      authorization_servers: servers,
      bearer_methods_supported: ['header'],
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
    };
  }

  /** As everybody may see them. */
  private openServers({ jwtValidation }: LoginPlace): readonly string[] {
    return authorizationServers(
      { jwtValidation: jwtValidation?.isAdvertised ? jwtValidation : undefined },
      this.config,
    );
  }

  private serversIn(login: string, server: LoginPlace): readonly string[] | undefined {
    const text = this.binding.unbind(login, ownerOf(server));
    if (text === undefined) return undefined;
    return claimWords(JSON.parse(Buffer.from(text, 'base64url').toString()));
  }
}

/** No session has such an owner: the id of a server is not an address. */
function ownerOf({ resource }: LoginPlace): Parameters<SessionBinding['bind']>[1] {
  return { serverId: resource, serverOrigin: '', user: LOGIN_PARAM };
}
