import type { Server } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { AppConfig } from '../config/environment.js';
import { TrustedProxies } from '../config/trusted-proxies.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

/** Which limit refused a connection. */
export type RefusingLimit = 'total' | 'address';

export interface ConnectionLimitOptions {
  readonly maxConnections: number;
  /** Connections of one address, or requests in flight of one client behind a trusted proxy. */
  readonly maxPerAddress: number;
  /** Whether the address is that of a proxy, whose connections carry the requests of many clients. */
  readonly isProxy: (address: string) => boolean;
  readonly onRefused: (limit: RefusingLimit) => void;
}

/** Applies the limits of the settings. */
export function setUpConnectionLimits(app: NestExpressApplication, logger: Logger, metrics: Metrics): void {
  const config = app.get(AppConfig);
  const proxies = new TrustedProxies(config.TRUST_PROXY);
  const options: ConnectionLimitOptions = {
    maxConnections: config.MAX_CONNECTIONS,
    maxPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
    isProxy: (address) => proxies.has(address),
    onRefused: refusalLog(logger, metrics),
  };
  limitConnections(app.getHttpServer(), options);
  if (proxies.isEmpty) return;
  app.set('trust proxy', options.isProxy);
  app.use(limitClientsOfProxies(options));
}

/**
 * Limits the connections of the server, in all and by address. A refused connection is closed without an answer: it has
 * sent nothing yet, and to wait for its request would keep it.
 */
export function limitConnections(server: Server, options: ConnectionLimitOptions): void {
  const { maxConnections, maxPerAddress, isProxy, onRefused } = options;
  server.maxConnections = maxConnections;
  server.on('drop', () => onRefused('total'));
  const counts = new AddressCounts(maxPerAddress);
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    // The client has disconnected already, or does not use TCP.
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    const leave = counts.enter(remoteAddress);
    if (leave !== undefined) return void socket.once('close', leave);
    onRefused('address');
    socket.destroy();
  });
}

/**
 * Limits the requests in flight of one client behind a proxy that is trusted: connections of the proxy say nothing of its
 * clients. Express finds their address in `X-Forwarded-For`, from the right, behind the trusted ones.
 */
export function limitClientsOfProxies({
  maxPerAddress,
  isProxy,
  onRefused,
}: Omit<ConnectionLimitOptions, 'maxConnections'>): RequestHandler {
  const counts = new AddressCounts(maxPerAddress);
  return (request, response, next) => {
    const { ip: address, socket } = request;
    // The connection of any other client is counted; the proxy's own requests, such as its probes, are not.
    if (address === undefined || address === socket.remoteAddress || isProxy(address)) return next();
    const leave = counts.enter(address);
    if (leave !== undefined) {
      response.once('close', leave);
      return next();
    }
    onRefused('address');
    next(tooMany());
  };
}

const LOG_EVERY_MS = 60_000;

/** One line a minute for each limit: there may be thousands of refusals. */
function refusalLog(logger: Logger, metrics: Metrics): (limit: RefusingLimit) => void {
  const loggedAt = new Map<RefusingLimit, number>();
  return (limit) => {
    metrics.connectionsRefused.inc({ limit });
    const now = performance.now();
    if (now - (loggedAt.get(limit) ?? -Infinity) < LOG_EVERY_MS) return;
    loggedAt.set(limit, now);
    logger.warn({ event: 'connections_refused', limit });
  };
}

function tooMany(): GatewayError {
  const message = 'Too many requests of this client address are in flight.';
  return new GatewayError('rate_limited', { message, reason: 'client address', headers: { 'retry-after': '1' } });
}

/** What is open by address. */
class AddressCounts {
  readonly #counts = new Map<string, number>();

  constructor(private readonly max: number) {}

  /** A function that gives the place back, or undefined when the address has no place left. */
  enter(address: string): (() => void) | undefined {
    const key = networkOf(address);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.max) return undefined;
    this.#counts.set(key, count + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    };
  }
}

const IPV6_NETWORK_PARTS = 4;

/** An IPv4 address as it is; of IPv6 the first 64 bits, since a host may use any address of its network. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, IPV6_NETWORK_PARTS)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : parsed.toString();
}
