import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { forEvery, pairs } from '../../../test/support/for-every.js';
import { sensitiveFields } from './sensitive.decorator.js';
import { createProviders } from './provider-list.js';
import { ProviderRegistry } from './provider.registry.js';
import { PROVIDER_SLUGS, type BaseProviderOptions, type Credential, type Provider } from './provider.types.js';

const KEY = 'the-provider-key';
const providers = createProviders({
  awsCredentials: {
    resolve: () => Promise.resolve({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }),
    forget: () => false,
  },
  googleTokens: { resolve: () => Promise.resolve('token'), forget: () => false },
});
const remote = providers.filter((provider) => provider.slug !== 'local');
const named = (list: readonly Provider[]) => list.map((provider) => [provider.slug, provider] as const);
const ALL = named(providers);
const REMOTE = named(remote);

const credentialOf = (
  provider: Provider,
  options: BaseProviderOptions &
    Readonly<Partial<Record<'aws_region' | 'google_project' | 'google_location', string>>> = {},
): Credential => ({
  key: provider.key === 'none' ? undefined : KEY,
  options: { base_url: 'https://host.example/prefix', ...options },
  organisationId: 'org',
});
const request = { method: 'POST', path: '/some/path', region: 'us-east-1', body: { a: 1 } } as const;

/** The wrong fields of options that come from outside. */
function wrongFields(provider: Provider, options: object): readonly string[] {
  const errors = validateSync(plainToInstance(provider.optionsClass, options), {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: false,
  });
  return errors.map((error) => error.property);
}

describe('the list of providers', () => {
  it('lists each provider once', () => {
    expect(providers.map((provider) => provider.slug).sort()).toEqual([...PROVIDER_SLUGS].sort());
  });

  it('finds each provider by its slug', () => {
    const registry = new ProviderRegistry(providers);
    for (const slug of PROVIDER_SLUGS) expect(registry.find(slug)?.slug).toBe(slug);
    for (const slug of ['Cohere', '', 'constructor']) expect(registry.find(slug)).toBeUndefined();
  });
});

describe('every provider', () => {
  it('refuses unknown options of every provider', () =>
    forEvery(ALL, (provider) => {
      expect(wrongFields(provider, { surprise: 1 })).toEqual(['surprise']);
    }));

  it('reports a missing key and an unwanted one', () =>
    forEvery(ALL, (provider) => {
      const params = (key: string | undefined) =>
        provider.checkOptions?.(plainToInstance(provider.optionsClass, {}), key).map((problem) => problem.param) ?? [];
      expect(params(undefined).includes('key')).toBe(provider.key === 'required');
      expect(params('').includes('key')).toBe(provider.key !== 'optional');
      expect(params(KEY).includes('key')).toBe(provider.key === 'none');
    }));

  it('begins each problem with its field', () =>
    forEvery(ALL, (provider) => {
      const problems = provider.checkOptions?.(plainToInstance(provider.optionsClass, {}), undefined) ?? [];
      for (const { param, message } of problems) expect(message.startsWith(`${param} `)).toBe(true);
    }));
});

/** Where there is no address without a place. */
const PLACES: Readonly<Record<string, Parameters<typeof credentialOf>[1]>> = {
  bedrock: { aws_region: 'us-east-1' },
  vertex: { google_project: 'my-project', google_location: 'europe-west4' },
};
const credentialFor = (provider: Provider) => credentialOf(provider, PLACES[provider.slug]);

describe('every provider behind HTTP', () => {
  it('accepts a base URL', () =>
    forEvery(pairs(REMOTE, ['https://proxy.example', 'http://127.0.0.1:4000/v1']), ([provider, base_url]) => {
      expect(wrongFields(provider, { base_url })).toEqual([]);
    }));

  it('refuses a malformed base URL', () => {
    const wrong = ['proxy.example', 'https://user:secret@proxy.example', 'https://proxy.example?x=1', 7, null];
    return forEvery(pairs(REMOTE, wrong), ([provider, base_url]) => {
      expect(wrongFields(provider, { base_url })).toEqual(['base_url']);
    });
  });

  it('refuses a timeout out of bounds', () =>
    forEvery(pairs(REMOTE, [99, 600_001, 1.5, '1000', null]), ([provider, timeout_ms]) => {
      expect(wrongFields(provider, { timeout_ms })).toEqual(['timeout_ms']);
      expect(wrongFields(provider, { timeout_ms: 100 })).toEqual([]);
    }));

  it('keeps host and path prefix of the base URL', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      const { url } = provider.address(request, credential);
      expect(url.origin).toBe('https://host.example');
      expect(url.pathname).toMatch(
        /^\/prefix\/(openai\/|v1\/projects\/my-project\/locations\/europe-west4\/)?some\/path$/,
      );
    }));

  it('stays on its host with any path', () =>
    forEvery(pairs(REMOTE, ['//evil.example/x', '/@evil.example/x', '/\\evil.example']), ([provider, path]) => {
      const { url } = provider.address({ ...request, path }, credentialFor(provider));
      expect(url.host).toBe('host.example');
    }));

  it('keeps query parameters', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      const sent = provider.address({ ...request, query: { after: 'a&b' } }, credential);
      expect(sent.url.searchParams.get('after')).toBe('a&b');
    }));

  it('sends JSON, with a content type only when there is a body', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      const sent = provider.address(request, credential);
      expect(sent.body?.toString()).toBe('{"a":1}');
      expect(sent.headers).toMatchObject({
        'content-type': 'application/json',
        accept: 'application/json',
        'user-agent': 'tollgate',
      });
      const { headers, body } = provider.address({ method: 'GET', path: '/x', region: 'us-east-1' }, credential);
      expect(body).toBeUndefined();
      expect(headers).not.toHaveProperty('content-type');
    }));

  it('writes header names in lower case', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      const names = Object.keys(provider.address(request, credential).headers);
      expect(names).toEqual(names.map((name) => name.toLowerCase()));
    }));

  it('sends the key in one header and nowhere else', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      const { url, headers, body } = provider.address(request, credential);
      expect(Object.values(headers).filter((value) => value.includes(KEY))).toHaveLength(
        provider.key === 'none' ? 0 : 1,
      );
      expect(url.href + String(body)).not.toContain(KEY);
    }));

  it('does not let a request replace the credential', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      const plain = provider.address(request, credential).headers;
      const stolen = Object.fromEntries(Object.keys(plain).map((name) => [name, 'stolen']));
      const { headers } = provider.address({ ...request, headers: { ...stolen, 'x-more': '1' } }, credential);
      expect(headers).toEqual({ ...plain, 'x-more': '1' });
    }));

  it('refuses a key that no header can carry', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      if (provider.key === 'none') return;
      for (const key of ['a\r\nx-evil: 1', 'a\n', '', 'schlüssel']) {
        expect(() => provider.address(request, { ...credential, key })).toThrow(
          expect.objectContaining({ code: 'secret_unavailable' }),
        );
      }
    }));

  it('checks a base URL that was stored unchecked', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      const broken = { ...credential, options: { ...credential.options, base_url: 'https://user@evil.example' } };
      expect(() => provider.address(request, broken)).toThrow(expect.objectContaining({ code: 'secret_unavailable' }));
    }));

  it('has a probe that can be sent', () =>
    forEvery(REMOTE, (provider) => {
      const credential = credentialFor(provider);
      if (provider.probe === undefined) throw new Error('every provider behind HTTP has a probe');
      expect(provider.address(provider.probe.request, credential).url.host).toBe('host.example');
      expect(provider.probe.accepts).not.toHaveLength(0);
      // A status that means a refused credential must never mean one that works.
      for (const status of [401, 403, 404, 429, 500, ...(provider.credentialStatuses ?? [])]) {
        expect(provider.probe.accepts).not.toContain(status);
      }
    }));
});

describe('sensitive options', () => {
  it('marks the secrets of the clouds as sensitive options', () => {
    const found = providers.flatMap((provider) => sensitiveFields(provider.optionsClass));
    expect(found.sort()).toEqual(['aws_secret_access_key', 'aws_session_token', 'google_credentials']);
  });
});
