import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** RFC 7518, section 3.3: RS256 needs keys of 2048 bits or more. */
const MIN_MODULUS_BITS = 2048;
const PEM_END = /(?<=-----END [A-Z0-9 ]+-----)/;

/**
 * An RSA private key from PEM in any form that environment variables come in: PKCS#1 or PKCS#8, line breaks as they are or
 * written `\n`, or the whole in base64.
 * @throws Error that says what was expected, never what came
 */
export function readRsaPrivateKey(text: string): KeyObject {
  const pem = toPem(text);
  if (pem === undefined) throw new Error('must be a private key in PEM form (or in base64 of it)');
  return assertStrongRsa(parsed(() => createPrivateKey(pem), 'must be an unencrypted private key in PEM form'));
}

/**
 * The RSA public keys of a text: PEM blocks one after the other, or separated by commas, each in any of the forms above.
 * @throws Error that says what was expected, never what came
 */
export function readRsaPublicKeys(text: string): readonly KeyObject[] {
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .flatMap(pemBlocks)
    .map((pem) => {
      // Node would derive the public key of a private one; but a private key in this setting is a mistake to hear about.
      if (pem.includes('PRIVATE KEY')) throw new Error('must hold public keys only');
      return assertStrongRsa(parsed(() => createPublicKey(pem), 'must be public keys in PEM form'));
    });
}

function pemBlocks(part: string): readonly string[] {
  const pem = toPem(part);
  if (pem === undefined) throw new Error('must be public keys in PEM form (or in base64 of it)');
  return pem.split(PEM_END).filter((block) => block.trim() !== '');
}

/** Undefined when the text is not PEM in any known wrapping. */
function toPem(text: string): string | undefined {
  const plain = text.trim();
  const candidate = plain.includes('-----BEGIN ') ? plain : Buffer.from(plain, 'base64').toString('latin1');
  if (!candidate.includes('-----BEGIN ')) return undefined;
  return candidate.replaceAll('\\r', '').replaceAll('\\n', '\n').replaceAll('\r', '').trim();
}

function parsed(read: () => KeyObject, expected: string): KeyObject {
  try {
    return read();
  } catch {
    // OpenSSL's own message adds nothing, and this one is printed at the start.
    throw new Error(expected);
  }
}

function assertStrongRsa(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'rsa') throw new Error('must be an RSA key');
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_MODULUS_BITS) {
    throw new Error(`must be an RSA key of at least ${MIN_MODULUS_BITS} bits`);
  }
  return key;
}
