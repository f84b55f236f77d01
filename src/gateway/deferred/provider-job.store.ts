import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, LessThan, type Repository } from 'typeorm';
import { toStorableJson } from '../../common/storable-text.js';
import { violatedUniqueIndex } from '../../database/database-errors.js';
import type { ProviderObjectKind } from '../relay/relay-route.js';
import { type JobPart, type PartCharge, ProviderJob } from './provider-job.entity.js';

/** A job that is not settled yet. */
export type MeteredJob = Omit<ProviderJob, 'claimId' | 'settledAt' | 'nextCheckAt' | 'charges' | 'upstreamId'>;

export type NewJob = MeteredJob & { readonly nextCheckAt: Date };

/** An account at a provider, and how it is reached. */
export type JobOwner = Pick<ProviderJob, 'organisationId' | 'provider' | 'server' | 'virtualKeyId' | 'account'>;

/** The jobs of all replicas. A job is claimed by one replica at a time. */
@Injectable()
export class ProviderJobStore {
  constructor(@InjectRepository(ProviderJob) private readonly jobs: Repository<ProviderJob>) {}

  async add(job: NewJob): Promise<void> {
    await this.jobs.query(INSERT, [
      job.id,
      job.organisationId,
      job.kind,
      job.virtualKeyId,
      job.provider,
      job.server,
      toStorableJson(job.traits),
      toStorableJson(job.dimensions),
      toStorableJson(job.parts),
      job.at,
      job.endsAt,
      job.nextCheckAt,
      toStorableJson(job.account),
    ]);
  }

  async remove(id: string): Promise<void> {
    await this.jobs.delete({ id });
  }

  /**
   * Stores the provider's id of a job. Returns whether no other job has it: a creation that is repeated with the same
   * `Idempotency-Key` creates no second job.
   */
  async identify(id: string, upstreamId: string, nextCheckAt: Date): Promise<boolean> {
    try {
      await this.jobs.update({ id, upstreamId: IsNull() }, { upstreamId, nextCheckAt });
      return true;
    } catch (error) {
      if (violatedUniqueIndex(error) === undefined) throw error;
      return false;
    }
  }

  /** Returns those of the ids that jobs already have. */
  async known({ organisationId, provider, server }: JobOwner, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const where = { organisationId, provider, server, upstreamId: In([...ids]) };
    const found = await this.jobs.find({ select: { id: true, upstreamId: true }, where });
    return new Set(found.flatMap(({ upstreamId }) => upstreamId ?? []));
  }

  /** Finds a job by its id at the provider. */
  async named(
    { organisationId, provider, server }: Pick<JobOwner, 'organisationId' | 'provider' | 'server'>,
    kind: ProviderObjectKind,
    upstreamId: string,
  ): Promise<ProviderJob | null> {
    return this.jobs.findOneBy({ organisationId, provider, server, kind, upstreamId });
  }

  /** Returns the unsettled jobs with these ids. */
  async unsettled(
    { organisationId, provider, server }: JobOwner,
    kind: ProviderObjectKind,
    ids: readonly string[],
  ): Promise<readonly ProviderJob[]> {
    const where = { organisationId, provider, server, kind, upstreamId: In([...ids]), settledAt: IsNull() };
    return this.jobs.findBy(where);
  }

  async get(id: string): Promise<ProviderJob | null> {
    return this.jobs.findOneBy({ id });
  }

  /**
   * Changes the parts of a job that is not charged yet. Returns false when another request has changed them since they
   * were read.
   */
  async changeParts({ id, parts }: Pick<ProviderJob, 'id' | 'parts'>, changed: readonly JobPart[]): Promise<boolean> {
    const parameters = [id, toStorableJson(parts), toStorableJson(changed)];
    const [, affected]: readonly [unknown, number] = await this.jobs.query(CHANGE_PARTS, parameters);
    return affected > 0;
  }

  /** Claims jobs that are due, until the end of the lease. */
  async claim(now: Date, leaseEnd: Date, most: number): Promise<readonly ProviderJob[]> {
    const [rows]: readonly [readonly { readonly id: string; readonly claim: string }[], number] = await this.jobs.query(
      CLAIM,
      [now, leaseEnd, most],
    );
    if (rows.length === 0) return [];
    const claims = new Set(rows.map(({ claim }) => claim));
    const found = await this.jobs.findBy({ id: In(rows.map(({ id }) => id)) });
    return found.filter(({ claimId }) => claimId !== null && claims.has(claimId));
  }

  /** Extends the claim of a job. */
  async renew({ id, claimId }: ProviderJob, leaseEnd: Date): Promise<void> {
    if (claimId !== null) await this.jobs.update({ id, claimId }, { nextCheckAt: leaseEnd });
  }

  /** Releases the claim of a job until its next check. */
  async putOff({ id, claimId }: ProviderJob, nextCheckAt: Date): Promise<void> {
    if (claimId !== null) await this.jobs.update({ id, claimId }, { nextCheckAt, claimId: null });
  }

  /** Moves the time at which polling of a job ends. */
  async prolong({ id }: ProviderJob, endsAt: Date): Promise<void> {
    await this.jobs.update({ id }, { endsAt });
  }

  /** Makes finished jobs due now, through the virtual key and account that a client has read them with. */
  async checkNow(owner: JobOwner, kind: ProviderObjectKind, ids: readonly string[], now: Date): Promise<number> {
    const { organisationId, provider, server, virtualKeyId, account } = owner;
    const how = [virtualKeyId, toStorableJson(account)];
    const parameters = [now, ...how, organisationId, provider, server, kind, [...ids]];
    const [, affected]: readonly [unknown, number] = await this.jobs.query(CHECK_NOW, parameters);
    return affected;
  }

  /**
   * Stores the charges of a job and returns them. The first stored charges win, so that all replicas charge the same.
   */
  async decide({ id }: ProviderJob, charges: readonly PartCharge[]): Promise<readonly PartCharge[]> {
    await this.jobs.query(DECIDE, [id, toStorableJson(charges)]);
    return (await this.jobs.findOneByOrFail({ id })).charges ?? charges;
  }

  async close({ id }: ProviderJob, settledAt: Date): Promise<void> {
    await this.jobs.update({ id }, { settledAt, nextCheckAt: null, claimId: null });
  }

  async forgetSettled(before: Date): Promise<void> {
    await this.jobs.delete({ settledAt: LessThan(before) });
  }
}

const INSERT = `
  INSERT INTO "provider_jobs" ("id", "organisation_id", "kind", "virtual_key_id", "provider", "server", "traits", "dimensions",
    "parts", "at", "ends_at", "next_check_at", "account")
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`;

/**
 * $1 now, $2 end of the lease, $3 most to claim. A job that a replica does not release is due again after its lease.
 */
const CLAIM = `
  UPDATE "provider_jobs" SET "claim_id" = gen_random_uuid(), "next_check_at" = $2::timestamptz
  WHERE "id" IN (
    SELECT "id" FROM "provider_jobs" WHERE "next_check_at" <= $1::timestamptz
    ORDER BY "next_check_at" LIMIT $3 FOR UPDATE SKIP LOCKED
  )
  RETURNING "id", "claim_id" AS "claim"`;

/**
 * $1 now, $2 virtual key, $3 account, $4 organisation, $5 provider, $6 server, $7 kind, $8 ids. A claimed job stays
 * claimed.
 */
const CHECK_NOW = `
  UPDATE "provider_jobs" SET "next_check_at" = $1::timestamptz, "virtual_key_id" = $2, "account" = $3
  WHERE "organisation_id" = $4 AND "provider" = $5 AND "server" = $6 AND "kind" = $7 AND "upstream_id" = ANY ($8::text[])
    AND "next_check_at" > $1::timestamptz AND "claim_id" IS NULL`;

const CHANGE_PARTS = `
  UPDATE "provider_jobs" SET "parts" = $3 WHERE "id" = $1 AND "parts" = $2::jsonb AND "charges" IS NULL`;

const DECIDE = `UPDATE "provider_jobs" SET "charges" = $2 WHERE "id" = $1 AND "charges" IS NULL`;
