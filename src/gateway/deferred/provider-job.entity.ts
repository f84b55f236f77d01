import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../../common/json/read.js';
import type { AppliedRate } from '../../usage/prices/price.types.js';
import { fromQuantitiesJson, type QuantitiesJson, toQuantitiesJson } from '../../usage/units.js';
import type { AttemptOutcome, FigureSource, UsageDimensions, UsageFigures } from '../../usage/usage-store.types.js';
import type { ProviderObjectKind } from '../relay/relay-route.js';

/** The figures of one model in JSON. The cost is text, because it may exceed a JSON number. */
export interface PartFigures {
  readonly costNano: string;
  readonly quantities: QuantitiesJson;
  readonly rate: AppliedRate;
}

export function figuresOf({ costNano, quantities }: PartFigures): UsageFigures {
  return { costNano: BigInt(costNano), quantities: fromQuantitiesJson(quantities) };
}

export function figuresJson({ costNano, quantities }: UsageFigures): Omit<PartFigures, 'rate'> {
  return { costNano: String(costNano), quantities: toQuantitiesJson(quantities) };
}

/** The use of one model by a job: one row of the ledger. */
export interface JobPart {
  /** The id of the reservation, and later of the row in the ledger. */
  readonly id: string;
  /** The provider's name of the model; null when it is not known before the job ends. */
  readonly model: string | null;
  /** The model whose prices apply, when a model route names another one. */
  readonly soldAs?: string | null;
  readonly isReserved: boolean;
  /** The reserved figures. */
  readonly bound: PartFigures;
  /** Whether `bound` really bounds the usage. */
  readonly isBounded: boolean;
}

/** The charge of a part. */
export interface PartCharge extends PartFigures {
  readonly id: string;
  readonly model: string | null;
  readonly source: FigureSource;
  readonly outcome: AttemptOutcome;
}

/** Work that a provider does and bills after its answer. The gateway polls it until it is settled. */
@Entity('provider_jobs')
@Index('uq_provider_jobs_upstream', ['organisationId', 'provider', 'server', 'kind', 'upstreamId'], { unique: true })
export class ProviderJob {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_provider_jobs' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @Column({ type: 'varchar', length: 32 })
  readonly kind!: ProviderObjectKind;

  /** The virtual key for reading the job: the one that created it, or the last one that a client read it with. */
  @Column({ name: 'virtual_key_id', type: 'uuid' })
  readonly virtualKeyId!: string;

  @Column({ type: 'varchar', length: 64 })
  readonly provider!: string;

  /** As in ProviderObject. */
  @Column({ type: 'varchar', length: 43 })
  readonly server!: string;

  /** Headers that name the project in the account of the virtual key. */
  @Column({ type: 'jsonb' })
  readonly account!: Readonly<Record<string, string>>;

  /** null when the creation was not answered. */
  @Column({ name: 'upstream_id', type: 'varchar', length: 1024, nullable: true })
  readonly upstreamId!: string | null;

  /** Fields of the request that the provider's object repeats. */
  @Column({ type: 'jsonb' })
  readonly traits!: JsonObject;

  /** The dimensions of its rows in the ledger, without the model. */
  @Column({ type: 'jsonb' })
  readonly dimensions!: UsageDimensions;

  @Column({ type: 'jsonb' })
  readonly parts!: readonly JobPart[];

  /** Stored before the ledger is written, so that all replicas charge the same. null when not known yet. */
  @Column({ type: 'jsonb', nullable: true })
  readonly charges!: readonly PartCharge[] | null;

  /** When the job was admitted: the time of its rows in the ledger. */
  @Column({ type: 'timestamptz' })
  readonly at!: Date;

  /** When the gateway stops polling it. */
  @Column({ name: 'ends_at', type: 'timestamptz' })
  readonly endsAt!: Date;

  /** null when nothing is left to do. */
  @Index('ix_provider_jobs_next_check_at')
  @Column({ name: 'next_check_at', type: 'timestamptz', nullable: true })
  readonly nextCheckAt!: Date | null;

  /** The claim of the replica that polls it now. */
  @Column({ name: 'claim_id', type: 'uuid', nullable: true })
  readonly claimId!: string | null;

  @Index('ix_provider_jobs_settled_at')
  @Column({ name: 'settled_at', type: 'timestamptz', nullable: true })
  readonly settledAt!: Date | null;
}
