import { describe, expect, it } from '@jest/globals';
import { IsInt, IsString } from 'class-validator';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { Optional } from '../common/validation/optional.decorator.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { cohere } from '../upstream/providers/cohere.provider.js';
import { Sensitive } from '../upstream/providers/sensitive.decorator.js';
import { ProviderOptions } from '../upstream/providers/provider-options.js';
import type { Provider } from '../upstream/providers/provider.types.js';
import { checkProviderOptions, mergeOptions, splitOptions, toProviderOptions } from './provider-options.js';

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
  checkProviderOptions(sample, config, key, egress);
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

describe('fields that are mapped to secret references', () => {
  it('are none that the provider could miss or find wrong', () => {
    const mapped = new Set(['key', 'config.region']);
    expect(() => checkProviderOptions(sample, { region: 'nowhere' }, 'bad', egress, mapped)).not.toThrow();
    expect(() => checkProviderOptions(sample, {}, 'bad', egress, new Set(['config.region']))).toThrow(GatewayError);
  });
});

describe('checkProviderOptions', () => {
  it.each([
    {},
    { region: 'eu', password: 'secret', retries: 3, timeout_ms: 100 },
    { base_url: 'https://api.example.com/v1' },
    { base_url: 'http://127.0.0.1:8080' },
  ])('takes %j', (config) => expect(() => check(config)).not.toThrow());

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
  ])('refuses %s, which no request could be sent to', (url) => {
    expect(wrongParamsOf({ base_url: url })).toEqual(['config.base_url']);
  });

  it("lists what the provider's own rules find, together with a refused address", () => {
    expect(wrongParamsOf({ region: 'nowhere', base_url: 'https://10.0.0.1' }, 'bad')).toEqual([
      'config.region',
      'key',
      'config.base_url',
    ]);
  });

  it('never shows a value', () => {
    try {
      check({ password: ['hunter2'], base_url: 'https://user:hunter2@api.example.com' });
    } catch (error) {
      expect(JSON.stringify(error) + String(error)).not.toContain('hunter2');
    }
    expect.assertions(1);
  });
});

describe('mergeOptions', () => {
  it('lays an update over what is stored, and takes out what it sets to null', () => {
    expect(
      mergeOptions(sample, { region: 'eu', retries: 3 }, { region: 'us', retries: null, password: 'new' }),
    ).toEqual({
      region: 'us',
      password: 'new',
    });
  });

  it('changes neither of the two', () => {
    const stored = { region: 'eu' };
    const update = { region: null };
    mergeOptions(sample, stored, update);
    expect([stored, update]).toEqual([{ region: 'eu' }, { region: null }]);
  });

  it('keeps false, zero and empty text, which are values', () => {
    expect(mergeOptions(sample, {}, { a: false, b: 0, c: '' })).toEqual({ a: false, b: 0, c: '' });
  });

  it('keeps null for an option that the provider does not have, for the rules to refuse', () => {
    expect(mergeOptions(sample, { region: 'eu' }, { nope: null })).toEqual({ region: 'eu', nope: null });
  });
});

describe('splitOptions', () => {
  it('parts what must be sealed from what may be read', () => {
    expect(splitOptions(sample, { region: 'eu', password: 'secret', base_url: 'https://api.example.com' })).toEqual({
      open: { region: 'eu', base_url: 'https://api.example.com' },
      secret: { password: 'secret' },
    });
  });

  it('loses nothing', () => {
    const options = { region: 'eu', password: 'secret' };
    const { open, secret } = splitOptions(sample, options);
    expect(toProviderOptions(sample, { ...open, ...secret })).toEqual(Object.assign(new SampleOptions(), options));
  });
});
