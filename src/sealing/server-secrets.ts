import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type SealedPlace, Sealer } from './sealer.js';
import { ServerSecret } from './server-secret.entity.js';

const SECRET_BYTES = 32;

/** Secrets that are made once for a database and shared by all its gateways. */
@Injectable()
export class ServerSecrets {
  constructor(
    private readonly dataSource: DataSource,
    private readonly sealer: Sealer,
  ) {}

  /** The secret of this name, made at the first call; gateways that ask at the same time get the same one. */
  async getOrCreate(name: string): Promise<Buffer> {
    const place = placeOf(name);
    await this.dataSource
      .createQueryBuilder()
      .insert()
      .into(ServerSecret)
      .values({ name, sealedValue: this.sealer.seal(randomBytes(SECRET_BYTES).toString('base64'), place) })
      .orIgnore()
      .execute();
    const stored = await this.dataSource.getRepository(ServerSecret).findOneByOrFail({ name });
    return Buffer.from(this.sealer.open(stored.sealedValue, place), 'base64');
  }
}

/** Server secrets belong to no organisation. */
export function placeOf(name: string): SealedPlace {
  return { organisationId: '-', table: 'server_secrets', rowId: name, field: 'sealed_value' };
}
