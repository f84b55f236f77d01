import { type ClientRequest, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { withoutBrackets } from '../../common/http/without-brackets.js';

const PROBE_MS = 60_000;

export interface TunnelOptions {
  /** Milliseconds until the proxy has connected. */
  readonly timeoutMs: number;
  /** The trusted certificates for a proxy that speaks TLS. */
  readonly secureContext?: SecureContext | undefined;
}

/**
 * Asks a proxy for a connection to a host (`CONNECT`, RFC 9110, section 9.3.6). The proxy resolves the name. Calls back
 * once; the code of an error contains the status of the proxy.
 */
export function openTunnel(
  proxy: URL,
  target: { readonly hostname: string; readonly port: number },
  { timeoutMs, secureContext }: TunnelOptions,
  done: (...result: [Error, null] | [null, Socket]) => void,
): void {
  const request = connectRequest(proxy, `${target.hostname}:${target.port}`, secureContext);
  let isOver = false;
  const end = (...result: [Error, null] | [null, Socket]): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(late);
    done(...result);
    if (result[0] !== null) request.destroy();
  };
  const fail = (code: string, cause?: unknown): void =>
    end(Object.assign(new Error('the proxy of EGRESS_PROXY did not connect', { cause }), { code }), null);
  const late = setTimeout(() => fail('PROXY_TIMEOUT'), timeoutMs);
  request.on('error', (cause) => fail('PROXY_UNREACHABLE', cause));
  // The proxy refused the tunnel, with a status and perhaps a body.
  request.on('response', (response) => fail(`PROXY_${response.statusCode ?? 0}`));
  request.on('connect', ({ statusCode = 0 }, socket: Socket, head) => {
    // Any 2xx opens the tunnel.
    if (statusCode < 200 || statusCode > 299 || isOver) {
      socket.on('error', () => undefined).destroy();
      return fail(`PROXY_${statusCode}`);
    }
    if (head.length > 0) socket.unshift(head);
    socket.setTimeout(0);
    socket.setKeepAlive(true, PROBE_MS).setNoDelay(true);
    end(null, socket);
  });
  request.end();
}

function connectRequest(proxy: URL, authority: string, secureContext: SecureContext | undefined): ClientRequest {
  const isSecure = proxy.protocol === 'https:';
  const host = withoutBrackets(proxy.hostname);
  const send = isSecure ? requestSecure : requestPlain;
  return send({
    method: 'CONNECT',
    host,
    port: proxy.port === '' ? (isSecure ? 443 : 80) : Number(proxy.port),
    path: authority,
    headers: { host: authority, ...authorization(proxy) },
    agent: false,
    // By default, Node would use the Host header, which names the target, not the proxy.
    ...(isSecure && isIP(host) === 0 ? { servername: host } : {}),
    ...(isSecure && secureContext !== undefined ? { secureContext } : {}),
  });
}

function authorization({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
