import { Injectable } from '@nestjs/common';
import { mayUseServer } from '../../access/mcp-grants.js';
import type { Principal } from '../../access/principal.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { type MaybePromise, chain, toRejection } from '../../common/maybe-promise.js';
import { Clock } from '../../common/time/clock.js';
import { AppConfig } from '../../config/environment.js';
import { McpAuthentication } from '../../identity/authenticators/mcp-authentication.js';
import { resourceAt } from '../../identity/authenticators/protected-resource.js';
import type { McpServerIdentity } from '../../identity/config/identity-config.js';
import { McpServerDirectory, noSuchServer } from '../servers/mcp-server.directory.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import { resourcePath } from './mcp-address.js';
import type { AddressedServer, AuthenticatedMcpCaller, IncomingMcpRequest } from './mcp-request.js';

type Admitted = Omit<AuthenticatedMcpCaller, 'recheck'>;
type Place = Pick<IncomingMcpRequest, 'address' | 'endpoint' | 'port'>;

/**
 * Finds the server of a request and authenticates its caller. Both belong together: the key decides which server an address
 * means, and the server decides which tokens it takes.
 */
@Injectable()
export class McpAdmission {
  constructor(
    private readonly directory: McpServerDirectory,
    private readonly authentication: McpAuthentication,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /** @throws GatewayError as McpAuthentication; `not_found` and `conflict` as McpServerDirectory */
  authenticate(incoming: IncomingMcpRequest): MaybePromise<AuthenticatedMcpCaller> {
    const admitted = chain(this.addressedServer(incoming), (addressed) =>
      this.admit(incoming, addressed, this.clock.now()),
    );
    return chain(admitted, ({ server, identity, caller }) => {
      const recheck = async (now: Date): Promise<void> => {
        const addressed = await this.lookUp(incoming, now, true);
        assertSame({ server, caller }, await this.admit(incoming, addressed, now));
      };
      return { server, identity, caller, recheck };
    });
  }

  /**
   * Looks up once per request, however often it is called.
   * @throws GatewayError as `authenticate`
   */
  addressedServer(incoming: IncomingMcpRequest): MaybePromise<AddressedServer> {
    incoming.addressed ??= toRejection(() => this.lookUp(incoming, this.clock.now(), false));
    return incoming.addressed;
  }

  /** @param server undefined for an address that means none: it looks like a server without settings */
  identityOf(server: UsableMcpServer | undefined, { address, endpoint, port }: Place): McpServerIdentity {
    const { MCP_PUBLIC_URL } = this.config;
    return new AddressedIdentity(server?.identity ?? NO_SERVER, () =>
      resourceAt(resourcePath(address, endpoint), { MCP_PUBLIC_URL, PORT: port }),
    );
  }

  private lookUp(incoming: IncomingMcpRequest, now: Date, wasCounted: boolean): MaybePromise<AddressedServer> {
    return chain(this.keyOwnerOf(incoming, now, wasCounted), (keyOwner) => {
      const { address } = incoming;
      const server: MaybePromise<UsableMcpServer | undefined> =
        keyOwner === undefined ? this.directory.findUnambiguous(address) : this.directory.find(address, keyOwner);
      return chain(server, (known) => ({ keyOwner, server: known }));
    });
  }

  private keyOwnerOf(
    incoming: IncomingMcpRequest,
    now: Date,
    wasCounted: boolean,
  ): MaybePromise<Principal | undefined> {
    try {
      const owner = this.authentication.keyOwnerOf(incoming.headers, now, wasCounted);
      return owner instanceof Promise ? owner.catch((error: unknown) => this.withChallenge(error, incoming)) : owner;
    } catch (error) {
      return this.withChallenge(error, incoming);
    }
  }

  /** A refused key gets the server's challenge, which says where the client can log in instead. */
  private async withChallenge(error: unknown, incoming: IncomingMcpRequest): Promise<never> {
    if (!(error instanceof GatewayError) || error.status !== 401) throw error;
    const server = await this.directory.findUnambiguous(incoming.address);
    const challenge = this.authentication.challengeForStranger(this.identityOf(server, incoming));
    throw error.withHeaders({ 'www-authenticate': challenge });
  }

  private admit(
    incoming: IncomingMcpRequest,
    { keyOwner, server }: AddressedServer,
    now: Date,
  ): MaybePromise<Admitted> {
    // Before the token is judged: what a key may not use does not exist for it.
    if (keyOwner && server && !mayUseServer(keyOwner.mcpGrants, server)) {
      throw noSuchServer('not among allowed_mcp_servers');
    }
    const identity = this.identityOf(server, incoming);
    const evidence = { headers: incoming.headers, keyOwner };
    // 401 and not 404: a client without a key must not learn which servers exist.
    return chain(this.authentication.callerOf(evidence, identity, now), (caller) => {
      // A valid token gets what it would get at a server of another organisation.
      if (server === undefined) throw new GatewayError('not_found');
      return { server, identity, caller };
    });
  }
}

/** Of no tenant, so that no token grants it. */
const NO_SERVER = { id: '', organisationId: '', workspaceId: null } as const;

/**
 * A server's identity settings at the address that the client used. The address is computed on demand, since callers with a key
 * do not need it. A class, because V8 keeps an object literal with a getter in its slow form (a dictionary).
 */
class AddressedIdentity implements McpServerIdentity {
  readonly id: McpServerIdentity['id'];
  readonly organisationId: McpServerIdentity['organisationId'];
  readonly workspaceId: McpServerIdentity['workspaceId'];
  readonly userIdentityForwarding: McpServerIdentity['userIdentityForwarding'];
  readonly jwtValidation: McpServerIdentity['jwtValidation'];
  readonly forwardHeaders: McpServerIdentity['forwardHeaders'];

  constructor(
    identity: Omit<McpServerIdentity, 'resource'>,
    private readonly address: () => string,
  ) {
    this.id = identity.id;
    this.organisationId = identity.organisationId;
    this.workspaceId = identity.workspaceId;
    this.userIdentityForwarding = identity.userIdentityForwarding;
    this.jwtValidation = identity.jwtValidation;
    this.forwardHeaders = identity.forwardHeaders;
  }

  get resource(): string {
    return this.address();
  }
}

function assertSame(before: Pick<Admitted, 'server' | 'caller'>, { server, caller }: Admitted): void {
  if (server.id === before.server.id && caller.sessionUser === before.caller.sessionUser) return;
  throw new GatewayError('not_found', { reason: 'another server or caller' });
}
