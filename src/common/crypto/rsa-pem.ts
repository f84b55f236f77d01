import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** RFC 7518, section 3.3: RS256 needs keys of 2048 bits or more. */
const MIN_MODULUS_BITS = 2048;
const PEM_END = /(?<=-----END [A-Z0-9 ]+-----)/;

/**
 * Reads an RSA private key in PEM, in the forms that environment variables have: PKCS#1 or PKCS#8, with line breaks or
 * `\n`, or all of it in base64.
 * @throws Error that says what was expected, never what came
 */
export function readRsaPrivateKey(text: string): KeyObject {
  const pem = toPem(text);
  if (pem === undefined) throw new Error('must be a private key in PEM form (or in base64 of it)');
  return assertStrongRsa(parsed(() => createPrivateKey(pem), 'must be an unencrypted private key in PEM form'));
}

/**
 * Reads RSA public keys: PEM blocks in a row or separated by commas, each in one of the forms above.
 * @throws Error that says what was expected, never what came
 */
export function readRsaPublicKeys(text: string): readonly KeyObject[] {
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .flatMap(pemBlocks)
    .map((pem) => {
      // Node would derive the public key of a private one. A private key in this setting is a mistake that must be
      // reported.
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
    // OpenSSL's message adds nothing. This one is printed at start-up.
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
