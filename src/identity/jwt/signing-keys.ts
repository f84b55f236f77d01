import type { KeyObject } from 'node:crypto';
import { readRsaPrivateKey, readRsaPublicKeys } from '../../common/crypto/rsa-pem.js';
import type { IdentitySettings } from '../../config/identity-settings.js';
import { type PublicJwk, toPublicJwk } from './public-jwk.js';

/** The private key that signs identity tokens. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

type KeySettings = Pick<IdentitySettings, 'JWT_PRIVATE_KEY' | 'JWT_PUBLIC_KEYS_PREVIOUS' | 'JWT_PUBLIC_KEYS_NEXT'>;

/**
 * The key that signs identities, and the published key set: the current key, the next keys and the previous ones. Without a
 * private key the gateway cannot sign; everything else works.
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

/** During a rotation, two settings may name the same key. */
function uniqueByKid(keys: readonly PublicJwk[]): readonly PublicJwk[] {
  return [...new Map(keys.map((key) => [key.kid, key])).values()];
}
