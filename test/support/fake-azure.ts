import { request } from 'node:https';
import type { LookupAddress } from 'node:dns';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { selfSignedCertificate } from '../../src/upstream/__fixtures__/certificate.js';
import { startHttp, startHttps } from '../../src/upstream/__fixtures__/loopback.js';
import { FakeEntra } from './fake-azure-entra.js';
import { FakeVault } from './fake-azure-vault.js';

const AUTHORITY_HOST = 'login.azure.test';
export const VAULT_HOST = 'contoso.vault.azure.test';
/** The audience of tokens for vaults. */
export const RESOURCE = 'https://vault.azure.test';

export const TENANT = '72f988bf-0000-4000-8000-2d7cd011db47';
export const OTHER_TENANT = 'f8cdef31-0000-4000-8000-93e4571e9125';
export const TENANT_DOMAIN = 'contoso.onazure.test';
export const APP = { tenantId: TENANT, clientId: 'fad7d5b3-0000-4000-8000-8d12124e61c1', secret: 'app~Secret/1+&=' };

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface FakeAzure {
  readonly entra: FakeEntra;
  readonly vault: FakeVault;
  /** Certificates to trust (PEM). */
  readonly ca: string;
  /** For AZURE_AUTHORITY_HOST. */
  readonly authority: string;
  readonly vaultUrl: string;
  /** For IDENTITY_ENDPOINT. */
  readonly identityEndpoint: string;
  /** Resolves the two names to this machine. */
  readonly resolve: (hostname: string) => Promise<readonly LookupAddress[]>;
  send(url: string, options?: { method?: string; headers?: Record<string, string>; body?: string }): Promise<RawAnswer>;
  close(): Promise<void>;
}

/** Entra ID and an Azure Key Vault, each behind TLS with its own certificate, and the endpoint of a managed identity. */
export async function startFakeAzure(): Promise<FakeAzure> {
  let entraHandler: Handler = notReady;
  let vaultHandler: Handler = notReady;
  let identityHandler: Handler = notReady;
  const certificates = [selfSignedCertificate(AUTHORITY_HOST), selfSignedCertificate(VAULT_HOST)] as const;
  const entraServer = await startHttps(
    certificates[0],
    listener(() => entraHandler),
  );
  const vaultServer = await startHttps(
    certificates[1],
    listener(() => vaultHandler),
  );
  const identityServer = await startHttp(listener(() => identityHandler));

  const authority = `https://${AUTHORITY_HOST}:${entraServer.port}`;
  const vaultUrl = `https://${VAULT_HOST}:${vaultServer.port}`;
  const entra = await FakeEntra.create(authority, RESOURCE);
  const vault = new FakeVault(vaultUrl, TENANT, entra);
  entra.addApp(APP);
  entra.addDomain(TENANT_DOMAIN, TENANT);
  vault.allowReading(APP.clientId);
  entraHandler = (incoming, response) => entra.handle(incoming, response);
  vaultHandler = (incoming, response) => vault.handle(incoming, response);
  identityHandler = (incoming, response) => entra.handleIdentity(incoming, response);

  const ca = certificates.map(({ cert }) => cert).join('');
  return {
    entra,
    vault,
    ca,
    authority,
    vaultUrl,
    identityEndpoint: `${identityServer.origin}/msi/token`,
    resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    send: (url, options = {}) => send(url, ca, options),
    close: async () => {
      await Promise.all([entraServer.close(), vaultServer.close(), identityServer.close()]);
    },
  };
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const notReady: Handler = () => Promise.reject(new Error('the double is not ready'));

function listener(handler: () => Handler): RequestListener {
  return (incoming, response) => {
    handler()(incoming, response).catch(() => response.destroy());
  };
}

/** One request with plain node:https on a connection of its own. */
function send(
  url: string,
  ca: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      headers,
      ca,
      agent: false,
      lookup: (_hostname, options, callback) =>
        options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4),
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => (text += chunk));
      incoming.on('error', reject);
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }));
    });
    outgoing.end(body);
  });
}
