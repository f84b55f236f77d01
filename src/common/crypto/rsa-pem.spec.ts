import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readRsaPrivateKey, readRsaPublicKeys } from './rsa-pem.js';

let privateKey: KeyObject;
let publicKey: KeyObject;
let other: KeyObject;
let pkcs8: string;
let pkcs1: string;
let spki: string;

beforeAll(() => {
  ({ privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 }));
  ({ publicKey: other } = generateKeyPairSync('rsa', { modulusLength: 2048 }));
  pkcs8 = pemOf(privateKey, 'pkcs8');
  pkcs1 = pemOf(privateKey, 'pkcs1');
  spki = pemOf(publicKey, 'spki');
});

function pemOf(key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'spki'): string {
  return String(key.export({ type, format: 'pem' }));
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a private key', () => {
  it.each<readonly [string, () => string]>([
    ['in PKCS#8', () => pkcs8],
    ['in PKCS#1', () => pkcs1],
    ['with line breaks written \\n', () => pkcs8.replaceAll('\n', '\\n')],
    ['in PKCS#1 with line breaks written \\n', () => pkcs1.replaceAll('\n', '\\n')],
    ['with line breaks of Windows', () => pkcs8.replaceAll('\n', '\r\n')],
    ['with those written \\r\\n', () => pkcs8.replaceAll('\n', '\\r\\n')],
    ['without its last line break', () => pkcs8.trim()],
    ['with spaces around it', () => `  ${pkcs8}  `],
    ['in base64', () => base64(pkcs8)],
    ['in base64 of PKCS#1', () => base64(pkcs1)],
    ['in base64 with line breaks', () => base64(pkcs8).replaceAll(/.{76}/g, '$&\n')],
  ])('reads a private key %s', (_form, text) => {
    const read = readRsaPrivateKey(text());
    expect(read.equals(privateKey)).toBe(true);
  });

  it.each<readonly [string, () => string, RegExp]>([
    ['empty', () => '', /PEM/],
    ['text', () => 'letmein', /PEM/],
    ['broken', () => pkcs8.replace(/.{64}\n/, ''), /PEM/],
    ['a public key', () => spki, /private key/],
    ['of 1024 bits', () => pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey, 'pkcs8'), /2048 bits/],
    ['elliptic', () => pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, 'pkcs8'), /RSA/],
    ['for RSA-PSS', () => pemOf(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey, 'pkcs8'), /RSA/],
    [
      'locked by a passphrase',
      () =>
        String(
          privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'not-for-production' }),
        ),
      /unencrypted/,
    ],
  ])('refuses a private key that is %s, without showing it', (_what, text, complaint) => {
    const given = text();
    let message = '';
    try {
      readRsaPrivateKey(given);
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(complaint);
    for (const line of given.split('\n').filter((part) => part.length > 4 && !part.startsWith('-----'))) {
      expect(message).not.toContain(line);
    }
  });
});

describe('public keys', () => {
  it.each<readonly [string, () => string]>([
    ['one after the other', () => spki + pemOf(other, 'spki')],
    ['between commas', () => `${spki.trim()},${pemOf(other, 'pkcs1')}`],
    ['in base64', () => `${base64(spki)}, ${base64(pemOf(other, 'spki'))},`],
    ['with line breaks written \\n', () => (spki + pemOf(other, 'spki')).replaceAll('\n', '\\n')],
  ])('reads public keys %s', (_form, text) => {
    const read = readRsaPublicKeys(text());
    expect(read.map((key) => key.type)).toEqual(['public', 'public']);
    expect(read[0]?.equals(publicKey)).toBe(true);
    expect(read[1]?.equals(other)).toBe(true);
  });

  it('refuses public keys when one is private', () => {
    expect(() => readRsaPublicKeys(spki + pkcs8)).toThrow(/public keys only/);
    expect(() => readRsaPublicKeys(base64(pkcs1))).toThrow(/public keys only/);
  });

  it('refuses text that is not a public key', () => expect(() => readRsaPublicKeys('letmein')).toThrow(/PEM/));
});
