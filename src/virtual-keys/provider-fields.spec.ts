import { describe, expect, it } from '@jest/globals';
import { IsInt, IsString } from 'class-validator';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { Optional } from '../common/validation/optional.decorator.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { createBedrockProvider } from '../upstream/providers/bedrock.provider.js';
import { cohere } from '../upstream/providers/cohere.provider.js';
import { Sensitive } from '../upstream/providers/sensitive.decorator.js';
import { ProviderOptions } from '../upstream/providers/provider-options.js';
import type { Provider } from '../upstream/providers/provider.types.js';
import { openai } from '../upstream/providers/openai.provider.js';
import { local } from '../upstream/providers/local.provider.js';
import { createVertexProvider } from '../upstream/providers/vertex.provider.js';
import { checkFields, fromFields, sealedConfigOf, toFields } from './provider-fields.js';

class SampleOptions extends ProviderOptions {
  @Optional()
  @IsString()
  readonly region?: string;

  @Optional()
  @IsString()
  @Sensitive()
  readonly password?: string;

  @Optional()
  @IsInt()
  readonly retries?: number;
}

const sample: Provider<SampleOptions> = {
  ...cohere,
  optionsClass: SampleOptions,
  checkOptions: (options, key) => [
    ...(options.region === 'nowhere' ? [{ param: 'config.region', message: 'config.region must be somewhere' }] : []),
    ...(key === 'bad' ? [{ param: 'key', message: 'key must be good' }] : []),
  ],
};

const egress = new EgressPolicy(['127.0.0.1']);

function check(config: JsonObject, key?: string): void {
  checkFields(sample, toFields({ key, config }), egress);
}

function wrongParamsOf(config: JsonObject, key?: string): readonly (string | null)[] {
  try {
    check(config, key);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error).toMatchObject({ code: 'validation_failed', status: 400 });
    return (error.details ?? []).map((detail) => detail.param);
  }
  throw new Error('nothing was refused');
}

const mapping = (...fields: string[]) => new Map(fields.map((field) => [field, field]));

describe('sealedConfigOf', () => {
  it.each([
    [cohere, ['key', 'config.base_url', 'config.timeout_ms']],
    [openai, ['key', 'config.organization', 'config.project', 'config.isolation']],
  ])('accepts the key and the options of the provider in its fields', (provider, fields) => {
    expect(fields.filter((field) => !sealedConfigOf(provider).has(field))).toEqual([]);
  });

  it.each([
    [cohere, 'config.organization'],
    [cohere, 'config.key'],
    [cohere, 'config.constructor'],
    [cohere, 'config.__proto__'],
    [cohere, 'base_url'],
    [cohere, 'config.config.base_url'],
    [cohere, 'KEY'],
    [local, 'key'],
    [local, 'config.base_url'],
  ])('knows no other field of the provider', (provider, field) =>
    expect(sealedConfigOf(provider).has(field)).toBe(false),
  );

  it('seals the key and the sensitive options, and sends them to config.base_url', () => {
    const { isSecret, hostFieldOf } = sealedConfigOf(sample);
    const fields = ['key', 'config.password', 'config.region', 'config.base_url'];
    expect(fields.map((field) => isSecret(field))).toEqual([true, true, false, false]);
    expect(hostFieldOf('key')).toBe('config.base_url');
  });
});

describe('fromFields', () => {
  it('returns the config that toFields was given', () => {
    const body = { key: 'sk', config: { timeout_ms: 5, base_url: 'x', 'config.odd': false } };
    expect(fromFields(toFields(body))).toEqual(body);
    expect(fromFields(toFields({}))).toEqual({ key: undefined, config: {} });
  });

  it.each(['', null, 1, {}, 'x'.repeat(8193)])('refuses a mapped key that is not text: %j', (value) => {
    expect(() => fromFields(new Map([['key', value]]))).toThrow(expect.objectContaining({ param: 'key' }));
  });
});

describe('checkFields with mapped fields', () => {
  it('neither requires a mapped field nor validates its value', () => {
    const fields = toFields({ key: 'bad', config: { region: 'nowhere' } });
    expect(() => checkFields(sample, fields, egress, mapping('key', 'config.region'))).not.toThrow();
    expect(() => checkFields(sample, toFields({ key: 'bad' }), egress, mapping('config.region'))).toThrow(GatewayError);
  });

  it.each([
    [{}, undefined],
    [{ key: 'sk' }, 'key'],
    [{ config: { password: 'x' } }, 'config.password'],
  ])('refuses a stored secret beside a mapped address: %j', (body, param) => {
    const work = (): void => checkFields(sample, toFields(body), egress, mapping('config.base_url'));
    if (param === undefined) expect(work).not.toThrow();
    else expect(work).toThrow(expect.objectContaining({ param }));
  });
});

describe('checkFields with a mapped key that takes the place of other credentials', () => {
  const google = { google_project: 'my-project', google_location: 'global' };
  const aws = { aws_access_key_id: 'AKIDEXAMPLE123456789', aws_secret_access_key: 'secret' };
  const providers = new Map<string, Provider>([
    ['vertex', createVertexProvider({ resolve: () => Promise.reject(new Error('unused')), forget: () => false })],
    ['bedrock', createBedrockProvider({ resolve: () => Promise.reject(new Error('unused')), forget: () => false })],
  ]);
  const refusedWith = (slug: string, config: JsonObject, mapped: string) => (): void => {
    const provider = providers.get(slug);
    if (provider === undefined) throw new Error('no provider');
    checkFields(provider, toFields({ config }), egress, mapping(mapped));
  };

  it.each([
    ['vertex', google],
    ['bedrock', { aws_region: 'us-east-1' }],
  ])('takes a key of %s alone', (slug, config) => {
    expect(refusedWith(slug, config, 'key')).not.toThrow();
    expect(refusedWith(slug, config, 'config.timeout_ms')).toThrow(GatewayError);
  });

  it.each([
    ['vertex', { ...google, google_auth_type: 'metadata' }, 'config.google_auth_type'],
    ['bedrock', { aws_region: 'us-east-1', ...aws }, 'config.aws_access_key_id'],
  ])('refuses credentials of %s beside it', (slug, config, param) => {
    expect(refusedWith(slug, config, 'key')).toThrow(expect.objectContaining({ param }));
  });
});

describe('checkFields', () => {
  it.each([
    {},
    { region: 'eu', password: 'secret', retries: 3, timeout_ms: 100 },
    { base_url: 'https://api.example.com/v1' },
    { base_url: 'http://127.0.0.1:8080' },
  ])('accepts the config %j', (config) => expect(() => check(config)).not.toThrow());

  it.each([
    [{ region: 1 }, ['config.region']],
    [{ region: null }, ['config.region']],
    [{ retries: '3' }, ['config.retries']],
    [{ retreis: 3 }, ['config.retreis']],
    [{ constructor: 1, toString: 2 }, ['config.constructor', 'config.toString']],
    [{ region: 1, password: 2, extra: 3 }, ['config.region', 'config.password', 'config.extra']],
    [{ timeout_ms: 99 }, ['config.timeout_ms']],
    [{ base_url: 'not a url' }, ['config.base_url']],
    [{ base_url: ['https://api.example.com'] }, ['config.base_url']],
  ])('names the fields that are wrong in %j', (config, params) => {
    expect(new Set(wrongParamsOf(config))).toEqual(new Set(params));
  });

  it.each([
    'http://api.example.com',
    'https://user:pass@api.example.com',
    'https://169.254.169.254/latest',
    'https://10.0.0.1',
    'https://[::1]',
    'https://[::ffff:169.254.169.254]',
    'https://metadata.google.internal',
    'https://localhost',
    'ftp://api.example.com',
  ])('refuses the address %s, to which no request could be sent', (url) => {
    expect(wrongParamsOf({ base_url: url })).toEqual(['config.base_url']);
  });

  it("lists the problems of the provider's own rules together with a refused address", () => {
    expect(wrongParamsOf({ region: 'nowhere', base_url: 'https://10.0.0.1' }, 'bad')).toEqual([
      'config.region',
      'key',
      'config.base_url',
    ]);
  });

  it('never shows a value in an error', () => {
    try {
      check({ password: ['hunter2'], base_url: 'https://user:hunter2@api.example.com' });
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain('hunter2');
    }
    expect.assertions(1);
  });
});
