import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Principal } from '../../access/principal.js';
import { type MaybePromise, toRejection, chain } from '../../common/maybe-promise.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { Clock } from '../../common/time/clock.js';
import { AppConfig } from '../../config/environment.js';
import { McpAuthentication } from '../../identity/authenticators/mcp-authentication.js';
import { resourceAt } from '../../identity/authenticators/protected-resource.js';
import type { McpCaller } from '../../identity/claims/mcp-caller.js';
import type { McpServerIdentity } from '../../identity/config/identity-config.js';
import { type RawHeader, toRawHeaders } from '../../identity/headers/raw-headers.js';
import { passEdge } from '../edge/mcp-edge.js';
import { type PublicHosts, publicHosts } from '../edge/public-hosts.js';
import { McpServerDirectory, type ServerAddress } from '../servers/mcp-server.directory.js';
import type { UsableMcpServer } from '../servers/usable-mcp-server.js';
import { AddressedIdentity } from './addressed-identity.js';
import { type McpEndpoint, METHODS_OF, resourcePath } from './mcp-address.js';

/** A request that has come in: whose, and to which server. */
export interface Entered {
  readonly server: UsableMcpServer;
  readonly identity: McpServerIdentity;
  readonly caller: McpCaller;
  /** As the client sent them. */
  readonly headers: readonly RawHeader[];
  /**
   * Looks at the request again while it is being answered. What is in memory serves, and no rate limit counts it.
   * @throws GatewayError as `McpEntry.enter`, when it would not come in any more, or to another server or as somebody else
   */
  readonly recheck: (now: Date) => Promise<void>;
}

type Admitted = Pick<Entered, 'server' | 'identity' | 'caller'>;

/** A request before it is let in. */
export interface Arrival extends Place {
  readonly request: Request;
  /** As the client sent them. */
  readonly headers: readonly RawHeader[];
  /**
   * Looks once, however often it is called: a key counts for each look.
   * @throws GatewayError as McpAuthentication, `not_found` and `conflict` as McpServerDirectory
   */
  readonly find: () => MaybePromise<Found>;
}

/** What a request is for: the owner of its key, and the server that the address means to that owner. */
interface Found {
  readonly keyOwner: Principal | undefined;
  readonly server: UsableMcpServer | undefined;
}

/** Lets requests in: the edge first, then who calls, then what may be called. */
@Injectable()
export class McpEntry {
  private readonly hostsByPort = new Map<number, PublicHosts>();

  constructor(
    private readonly directory: McpServerDirectory,
    private readonly authentication: McpAuthentication,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  arrivalOf(request: Request, address: ServerAddress, endpoint: McpEndpoint): Arrival {
    const headers = toRawHeaders(request.rawHeaders);
    const port = portOf(request);
    const place = { address, endpoint, port };
    const find = (): MaybePromise<Found> => this.find(headers, place, this.clock.now(), false);
    let found: MaybePromise<Found> | undefined;
    return { address, endpoint, port, request, headers, find: () => (found ??= toRejection(find)) };
  }

  /** Whether the request may go on; else it has been answered. */
  passEdge(arrival: Arrival, response: Response): MaybePromise<boolean> {
    return chain(this.serverForBrowser(arrival), (server) =>
      passEdge(arrival, response, {
        publicHosts: this.publicHosts(arrival.port),
        allowedOrigins: server?.allowedOrigins ?? [],
        tokenHeader: server?.identity.jwtValidation?.headerKey,
        methods: METHODS_OF[arrival.endpoint],
      }),
    );
  }

  /** @throws GatewayError as McpAuthentication, `not_found` and `conflict` as McpServerDirectory */
  enter(arrival: Arrival): MaybePromise<Entered> {
    const admitted = chain(arrival.find(), (found) => this.admit(arrival, found, this.clock.now()));
    return chain(admitted, ({ server, identity, caller }) => {
      const { headers } = arrival;
      const recheck = async (now: Date): Promise<void> => {
        const found = await this.find(headers, arrival, now, true);
        assertSame({ server, caller }, await this.admit(arrival, found, now));
      };
      return { server, identity, caller, headers, recheck };
    });
  }

  private admit(arrival: Arrival, { keyOwner, server }: Found, now: Date): MaybePromise<Admitted> {
    // Whoever brings no key learns nothing about which servers there are.
    if (server === undefined) throw keyMissing();
    const identity = this.identityOf(server, arrival);
    const caller = this.authentication.callerOf({ headers: arrival.headers, keyOwner }, identity, now);
    return chain(caller, (known) => ({ server, identity, caller: known }));
  }

  identityOf(server: UsableMcpServer, { address, endpoint, port }: Place): McpServerIdentity {
    const { MCP_PUBLIC_URL } = this.config;
    return new AddressedIdentity(server.identity, () =>
      resourceAt(resourcePath(address, endpoint), { MCP_PUBLIC_URL, PORT: port }),
    );
  }

  /** The server that a page asks for. Browsers ask whether they may without credentials, and read why they may not. */
  private serverForBrowser({ request, address, find }: Arrival): MaybePromise<UsableMcpServer | undefined> {
    if (request.headers.origin === undefined) return undefined;
    if (request.method === 'OPTIONS') return this.directory.findUnambiguous(address);
    return unlessRefused(find).then((found) =>
      found === undefined ? this.directory.findUnambiguous(address) : found.server,
    );
  }

  private find(headers: readonly RawHeader[], place: Place, now: Date, wasCounted: boolean): MaybePromise<Found> {
    return chain(this.keyOwnerOf(headers, place, now, wasCounted), (keyOwner) => {
      const { address } = place;
      const server: MaybePromise<UsableMcpServer | undefined> =
        keyOwner === undefined ? this.directory.findUnambiguous(address) : this.directory.find(address, keyOwner);
      return chain(server, (known) => ({ keyOwner, server: known }));
    });
  }

  private keyOwnerOf(
    headers: readonly RawHeader[],
    place: Place,
    now: Date,
    wasCounted: boolean,
  ): MaybePromise<Principal | undefined> {
    try {
      const owner = this.authentication.keyOwnerOf(headers, now, wasCounted);
      return owner instanceof Promise ? owner.catch((error: unknown) => this.challenge(error, place)) : owner;
    } catch (error) {
      return this.challenge(error, place);
    }
  }

  /** A key that is refused gets the server's challenge: with it, a client finds out where to log in instead. */
  private async challenge(error: unknown, place: Place): Promise<never> {
    if (!(error instanceof GatewayError) || error.status !== 401) throw error;
    const server = await this.directory.findUnambiguous(place.address);
    if (server === undefined) throw error;
    const challenge = this.authentication.challengeFor(this.identityOf(server, place));
    throw error.withHeaders({ 'www-authenticate': challenge });
  }

  private publicHosts(port: number): PublicHosts {
    const known = this.hostsByPort.get(port);
    if (known !== undefined) return known;
    const { MCP_PUBLIC_URL } = this.config;
    const hosts = publicHosts(MCP_PUBLIC_URL === undefined ? [] : [MCP_PUBLIC_URL], port);
    this.hostsByPort.set(port, hosts);
    return hosts;
  }
}

export interface Place {
  readonly address: ServerAddress;
  readonly endpoint: McpEndpoint;
  readonly port: number;
}

/** The port that the gateway listens on; with `PORT=0` only the connection knows it. */
export function portOf(request: Request): number {
  return request.socket.localPort ?? 0;
}

function assertSame(before: Pick<Admitted, 'server' | 'caller'>, { server, caller }: Admitted): void {
  if (server.id === before.server.id && caller.sessionUser === before.caller.sessionUser) return;
  throw new GatewayError('not_found', { reason: 'another server or caller' });
}

/** The caller is told when the page has passed. */
async function unlessRefused(find: () => MaybePromise<Found>): Promise<Found | undefined> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return undefined;
  }
}

function keyMissing(): GatewayError {
  return new GatewayError('api_key_invalid', {
    // For the log alone, where it tells a token that was never looked at from one that was refused.
    reason: 'missing; without a key, no server or those of two organisations have this address',
    headers: { 'www-authenticate': 'Bearer realm="tollgate"' },
  });
}
