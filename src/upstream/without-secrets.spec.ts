import { describe, expect, it } from '@jest/globals';
import { CohereOptions } from './providers/cohere.provider.js';
import { BedrockOptions } from './providers/bedrock.provider.js';
import type { Credential } from './providers/provider.types.js';
import { secretsOf, withoutSecrets } from './without-secrets.js';

const KEY = 'sk-1234/5678+90"\\';
const COHERE = { optionsClass: CohereOptions };
const credential: Credential = { key: KEY, options: {}, organisationId: 'org-1' };

function clean(body: unknown, provider = COHERE, used = credential): unknown {
  return JSON.parse(withoutSecrets(Buffer.from(JSON.stringify(body)), secretsOf(provider, used)).toString());
}

describe('withoutSecrets', () => {
  it('masks the key in every place of the body', () => {
    const body = { message: `invalid key ${KEY}, not ${KEY}`, details: [{ [KEY]: `Bearer ${KEY}` }] };
    expect(clean(body)).toEqual({
      message: 'invalid key ****, not ****',
      details: [{ '****': 'Bearer ****' }],
    });
  });

  it('masks a key whose slashes are escaped', () => {
    const body = Buffer.from('{"message":"bad sk-1234\\/5678+90\\"\\\\"}');
    expect(withoutSecrets(body, secretsOf(COHERE, credential)).toString()).toBe('{"message":"bad ****"}');
  });

  it('keeps every other byte, also of a text that is not UTF-8', () => {
    const [before, after] = [Buffer.from([0xff, 0xe9, 0x20]), Buffer.from([0x20, 0xc3, 0x00])];
    const key = 'sk-\u00e9t\u00e9-0123456789';
    const masked = withoutSecrets(Buffer.concat([before, Buffer.from(key), after]), [key]);
    expect(masked).toEqual(Buffer.concat([before, Buffer.from('****'), after]));
  });

  it('masks sealed options, and keeps the open ones', () => {
    const options: BedrockOptions = {
      aws_access_key_id: 'AKIDEXAMPLE123456789',
      aws_secret_access_key: 'aws-secret-0123456789',
      aws_session_token: 'aws-token-0123456789',
    };
    const body = { message: Object.values(options).join(' ') };
    expect(clean(body, { optionsClass: BedrockOptions }, { ...credential, options })).toEqual({
      message: 'AKIDEXAMPLE123456789 **** ****',
    });
  });

  it('masks all options that come from secret references', () => {
    const options: BedrockOptions = { aws_access_key_id: 'AKIDEXAMPLE123456789', timeout_ms: 12_345_678 };
    const body = Buffer.from('"AKIDEXAMPLE123456789 12345678"');
    const mapped = ['aws_access_key_id', 'timeout_ms'];
    const used = { ...credential, options };
    expect(withoutSecrets(body, secretsOf({ optionsClass: BedrockOptions }, used, mapped)).toString()).toBe(
      '"**** 12345678"',
    );
  });

  it('masks the longer of two secrets first when it contains the other', () => {
    const options: BedrockOptions = { aws_secret_access_key: 'abcdefgh', aws_session_token: 'abcdefgh-and-more' };
    expect(clean('abcdefgh-and-more abcdefgh', { optionsClass: BedrockOptions }, { ...credential, options })).toBe(
      '**** ****',
    );
  });

  it.each([
    ['a body without secrets', credential],
    ['a key that is too short to be one', { ...credential, key: 'a' }],
    ['a virtual key without secrets', { ...credential, key: undefined }],
  ])('returns %s unchanged', (_what, used) => {
    const body = Buffer.from([0x61, 0xff, 0x62]);
    expect(withoutSecrets(body, secretsOf(COHERE, used))).toBe(body);
  });
});
