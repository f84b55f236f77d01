import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FindOptionsWhere, Repository, SelectQueryBuilder } from 'typeorm';
import { patternOf } from '../database/rows.js';
import { UsageBucket } from './usage-bucket.entity.js';
import type { BucketKey } from './usage-store.types.js';

/** The buckets of one policy in one window. */
export interface BucketsOfWindow {
  readonly organisationId: string;
  readonly policyId: string;
  readonly windowId: string;
}

export interface BucketFilter {
  /**
   * In the policy's unit. A bucket is `exhausted` when it has reached this limit, or was marked as exhausted under one
   * that was not lower.
   */
  readonly limit: bigint;
  readonly status: 'active' | 'exhausted' | undefined;
  /** A part of the readable key, or of the name of a resource whose id is in the key. */
  readonly search: string | undefined;
  /** The names that the search covers. */
  readonly names?: SearchedNames;
  readonly skip: number;
  readonly take: number;
}

/** The names of resources that the caller may list. */
export interface SearchedNames {
  /** null for all workspaces. */
  readonly workspaceId: string | null;
  readonly of: readonly (keyof typeof NAMES)[];
}

/** Queries the ids of resources by name. The keys of groups contain them as `<key>:<id>`. */
const NAMES = {
  api_key: `SELECT k.id::text FROM api_keys k WHERE k.organisation_id = :organisation
    AND (:workspace::uuid IS NULL OR k.workspace_id = :workspace) AND k.name ILIKE :pattern`,
  workspace_id: `SELECT w.id::text FROM workspaces w WHERE w.organisation_id = :organisation
    AND (:workspace::uuid IS NULL OR w.id = :workspace) AND w.name ILIKE :pattern`,
} as const;

const IS_EXHAUSTED = '(bucket.used >= :limit OR (bucket.exhaustedAt IS NOT NULL AND bucket.creditLimit >= :limit))';

/** Reads buckets. Only the usage store writes them. */
@Injectable()
export class UsageBucketStore {
  constructor(@InjectRepository(UsageBucket) private readonly rows: Repository<UsageBucket>) {}

  /** A page of buckets, the most used first, and their total number. */
  async list(window: BucketsOfWindow, filter: BucketFilter): Promise<[UsageBucket[], number]> {
    const query = this.rows.createQueryBuilder('bucket').where({ ...window });
    const { status, search, limit } = filter;
    if (search !== undefined) addSearch(query, search, window.organisationId, filter.names);
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

  /** Returns those of the named buckets that exist. */
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

function addSearch(
  query: SelectQueryBuilder<UsageBucket>,
  search: string,
  organisation: string,
  { workspaceId: workspace, of }: SearchedNames = { workspaceId: null, of: [] },
): void {
  // Splitting the key is faster than a pattern, since a limit can have many groups.
  const ofName = of.map(
    (key) => `split_part(split_part('|' || bucket.valueKey, '|${key}:', 2), '|', 1) IN (${NAMES[key]})`,
  );
  query.andWhere(`(${['bucket.valueKey ILIKE :pattern', ...ofName].join(' OR ')})`, {
    pattern: patternOf(search),
    organisation,
    workspace,
  });
}
