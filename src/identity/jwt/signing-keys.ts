import type { KeyObject } from 'node:crypto';
import { readRsaPrivateKey, readRsaPublicKeys } from '../../common/crypto/rsa-pem.js';
import type { IdentitySettings } from '../../config/identity-settings.js';
import { type PublicJwk, toPublicJwk } from './public-jwk.js';

/** The key that signs. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

type KeySettings = Pick<IdentitySettings, 'JWT_PRIVATE_KEY' | 'JWT_PUBLIC_KEYS_PREVIOUS' | 'JWT_PUBLIC_KEYS_NEXT'>;

/**
 * The key that signs identities, and the key set by which servers verify them: the current key, those that will sign
 * soon, and those that signed before. Without a private key there is nothing to sign with; everything else works.
 */
export class SigningKeys {
  readonly current: SigningKey | undefined;
  readonly published: readonly PublicJwk[];

  constructor(settings: KeySettings) {
    const privateKey = settings.JWT_PRIVATE_KEY === undefined ? undefined : readRsaPrivateKey(settings.JWT_PRIVATE_KEY);
    const others = [settings.JWT_PUBLIC_KEYS_NEXT, settings.JWT_PUBLIC_KEYS_PREVIOUS].flatMap((text) =>
      text === undefined ? [] : readRsaPublicKeys(text),
    );
    const currentJwk = privateKey && toPublicJwk(privateKey);
    this.current = privateKey && currentJwk && { kid: currentJwk.kid, privateKey };
    this.published = uniqueByKid([...(currentJwk ? [currentJwk] : []), ...others.map(toPublicJwk)]);
  }
}

/** The same key may be in two settings while a rotation is under way. */
function uniqueByKid(keys: readonly PublicJwk[]): readonly PublicJwk[] {
  return [...new Map(keys.map((key) => [key.kid, key])).values()];
}
