import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FindOptionsWhere, Repository } from 'typeorm';
import { containsText } from '../database/rows.js';
import { UsageBucket } from './usage-bucket.entity.js';
import type { BucketKey } from './usage-store.types.js';

/** The buckets of one policy in one window. */
export interface BucketsOfWindow {
  readonly organisationId: string;
  readonly policyId: string;
  readonly windowId: string;
}

export interface BucketFilter {
  /** In the policy's unit: `exhausted` are those that have reached it, or were marked under no lower one. */
  readonly limit: bigint;
  readonly status: 'active' | 'exhausted' | undefined;
  /** Part of the readable key. */
  readonly search: string | undefined;
  readonly skip: number;
  readonly take: number;
}

const IS_EXHAUSTED = '(bucket.used >= :limit OR (bucket.exhaustedAt IS NOT NULL AND bucket.creditLimit >= :limit))';

/** Reads what is counted; only the usage store writes it. */
@Injectable()
export class UsageBucketStore {
  constructor(@InjectRepository(UsageBucket) private readonly rows: Repository<UsageBucket>) {}

  /** The most used first. */
  async list(window: BucketsOfWindow, filter: BucketFilter): Promise<[UsageBucket[], number]> {
    const query = this.rows.createQueryBuilder('bucket').where({ ...window });
    const { status, search, limit } = filter;
    if (search !== undefined) query.andWhere({ valueKey: containsText(search) });
    if (status !== undefined) {
      query.andWhere(`(${status === 'active' ? 'NOT ' : ''}${IS_EXHAUSTED})`, { limit: String(limit) });
    }
    return query
      .orderBy('bucket.used', 'DESC')
      .addOrderBy('bucket.id', 'ASC')
      .skip(filter.skip)
      .take(filter.take)
      .getManyAndCount();
  }

  async find(
    where: { organisationId: string; policyId: string } & ({ id: string } | { windowId: string; valueKey: string }),
  ): Promise<UsageBucket | null> {
    return this.rows.findOneBy(where);
  }

  /** As many of the named ones as there are. */
  async findAll(organisationId: string, keys: readonly BucketKey[]): Promise<UsageBucket[]> {
    if (keys.length === 0) return [];
    const where: FindOptionsWhere<UsageBucket>[] = keys.map(({ policyId, bucketHash, windowId }) => ({
      organisationId,
      policyId,
      bucketHash,
      windowId,
    }));
    return this.rows.find({ where });
  }
}
