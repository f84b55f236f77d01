import { createHash, createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import type { Principal } from '../access/principal.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../common/json/read.js';
import { allColumns } from '../database/rows.js';
import { placeIn, Sealer } from '../sealing/sealer.js';
import { IdempotencyKey } from './idempotency-key.entity.js';

/** Keys of an organisation within a day. */
const MAX_KEYS = 10_000;
const FULL_RETRY_SECONDS = 3_600;

const placeOf = placeIn('idempotency_keys', 'sealed_answer');

/** A create with an `Idempotency-Key`. */
export type KeyedCall = Pick<IdempotencyKey, 'organisationId' | 'keyHash' | 'requestHash'>;

/** Remembers which create belongs to a key, and its answer. */
@Injectable()
export class IdempotencyStore {
  constructor(
    @InjectRepository(IdempotencyKey) private readonly rows: Repository<IdempotencyKey>,
    private readonly sealer: Sealer,
  ) {}

  /**
   * The answer to an earlier request with this key; undefined when there was none.
   * @throws GatewayError `idempotency_key_reused` for another request, `idempotency_key_in_use` for one without an answer
   */
  async answerOf({ requestHash, ...key }: KeyedCall): Promise<JsonObject | undefined> {
    const row = await this.rows.findOne({ select: allColumns(this.rows.metadata), where: key });
    if (row === null) return undefined;
    if (!row.requestHash.equals(requestHash)) throw new GatewayError('idempotency_key_reused', { param: HEADER });
    if (row.sealedAnswer === null) throw inUse(row);
    const answer: unknown = JSON.parse(this.sealer.open(row.sealedAnswer, placeOf(row)));
    return isObject(answer) ? answer : {};
  }

  /** @throws GatewayError `rate_limited` when the organisation has used too many keys within a day */
  async assertRoom({ organisationId }: KeyedCall): Promise<void> {
    if ((await this.rows.countBy({ organisationId })) < MAX_KEYS) return;
    const message = `The organisation has used ${MAX_KEYS} values of ${HEADER} within a day; leave the header out.`;
    throw new GatewayError('rate_limited', { message, headers: { 'retry-after': String(FULL_RETRY_SECONDS) } });
  }

  /** Takes the key in the transaction of the create. Of two requests at the same time, the second fails here. */
  async take(manager: EntityManager, call: KeyedCall, resourceId: string): Promise<void> {
    await manager.insert(IdempotencyKey, { ...call, resourceId });
  }

  /** Keeps the answer of a create. Nothing to keep it for: it created nothing. */
  async keep({ requestHash: _, ...key }: KeyedCall, answer: object): Promise<void> {
    const row = await this.rows.findOneBy(key);
    if (row === null) return;
    const sealedAnswer = this.sealer.seal(JSON.stringify(answer), placeOf(row));
    await this.rows.update({ id: row.id, organisationId: row.organisationId }, { sealedAnswer });
  }
}

export const HEADER = 'Idempotency-Key';

export function keyedCall(caller: Principal, key: string, address: string, body: unknown): KeyedCall {
  const { organisationId, kind, id } = caller;
  return {
    organisationId,
    keyHash: createHash('sha256')
      .update(JSON.stringify([kind, id, key]))
      .digest(),
    requestHash: createHmac('sha256', key)
      .update(JSON.stringify([address, body]))
      .digest(),
  };
}

function inUse({ resourceId }: IdempotencyKey): GatewayError {
  return new GatewayError('idempotency_key_in_use', {
    message: `A request with this ${HEADER} is in progress, or its answer was lost; it creates ${resourceId}.`,
    param: HEADER,
    headers: { 'retry-after': '1' },
  });
}
