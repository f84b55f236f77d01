import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ServerSecrets } from '../sealing/server-secrets.js';

/**
 * Hashes keys with a pepper that is not in the key table: a stolen table cannot be tried offline. A slow hash would add
 * nothing, since the secret has 256 random bits.
 */
@Injectable()
export class ApiKeyHasher implements OnModuleInit {
  private pepper: Buffer | undefined;

  constructor(private readonly secrets: ServerSecrets) {}

  async onModuleInit(): Promise<void> {
    this.pepper = await this.secrets.getOrCreate('api_key_pepper');
  }

  hash(key: string): Buffer {
    if (this.pepper === undefined) throw new Error('the pepper is not loaded yet');
    return createHmac('sha256', this.pepper).update(key).digest();
  }

  matches(key: string, hash: Buffer): boolean {
    return timingSafeEqual(this.hash(key), hash);
  }
}
