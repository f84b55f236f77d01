import type { BaseProviderOptions, Credential, Provider, ProviderRequest } from '../provider.types.js';

export function credentialWith<Options extends BaseProviderOptions>(
  options: Options,
  key: string | undefined = 'the-key',
): Credential<Options> {
  return { key, options, organisationId: 'org' };
}

/** Where a request to a path goes. */
export function urlOf<Options extends BaseProviderOptions>(
  provider: Provider<Options>,
  options: Options,
  request: Partial<ProviderRequest> = {},
): string {
  return provider.address({ method: 'POST', path: '/v2/rerank', ...request }, credentialWith(options)).url.href;
}

/** The headers that carry the credential and what belongs to it. */
export function credentialHeaders<Options extends BaseProviderOptions>(
  provider: Provider<Options>,
  options: Options,
  key?: string,
): Readonly<Record<string, string>> {
  const { headers } = provider.address({ method: 'GET', path: '/x' }, { ...credentialWith(options), key });
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'accept' && name !== 'user-agent'));
}
