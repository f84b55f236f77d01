import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JsonObject } from '../../common/json/read.js';
import type { AppliedRate } from '../../usage/prices/price.types.js';
import { fromQuantitiesJson, type QuantitiesJson, toQuantitiesJson } from '../../usage/units.js';
import type { AttemptOutcome, FigureSource, UsageDimensions, UsageFigures } from '../../usage/usage-store.types.js';
import type { ProviderObjectKind } from '../relay/relay-route.js';

/** Figures of one model in JSON. The cost is text: it is an integer without a bound. */
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

/** What a job does with one model: one row of the ledger. */
export interface JobPart {
  /** Of the reservation, and then of the row. */
  readonly id: string;
  /** As the provider knows it; null: not known before the job is over. */
  readonly model: string | null;
  /** The model whose prices count, where a model route names another one. */
  readonly soldAs?: string | null;
  readonly isReserved: boolean;
  /** Of the reservation. */
  readonly bound: PartFigures;
  /** Whether that is a bound; if not, something leaves open what is used. */
  readonly isBounded: boolean;
}

/** What a part is charged, once that is known. */
export interface PartCharge extends PartFigures {
  readonly id: string;
  readonly model: string | null;
  readonly source: FigureSource;
  readonly outcome: AttemptOutcome;
}

/** Work that a provider does, and bills, after it has answered. The gateway looks after it until it is settled. */
@Entity('provider_jobs')
@Index('uq_provider_jobs_upstream', ['organisationId', 'provider', 'server', 'kind', 'upstreamId'], { unique: true })
export class ProviderJob {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_provider_jobs' })
  readonly id!: string;

  @Column({ name: 'organisation_id', type: 'uuid' })
  readonly organisationId!: string;

  @Column({ type: 'varchar', length: 32 })
  readonly kind!: ProviderObjectKind;

  /** Through which the job can be read: the one that made it, or the last one that a caller has read it through. */
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

  /** null: the answer to the create is not known. */
  @Column({ name: 'upstream_id', type: 'varchar', length: 1024, nullable: true })
  readonly upstreamId!: string | null;

  /** Fields of the request that the provider's object repeats. */
  @Column({ type: 'jsonb' })
  readonly traits!: JsonObject;

  /** Of its rows in the ledger, but for the model. */
  @Column({ type: 'jsonb' })
  readonly dimensions!: UsageDimensions;

  @Column({ type: 'jsonb' })
  readonly parts!: readonly JobPart[];

  /** Written before the ledger is, so that all that settle the job charge the same. null: not known yet. */
  @Column({ type: 'jsonb', nullable: true })
  readonly charges!: readonly PartCharge[] | null;

  /** When the job was admitted: the time of its rows in the ledger. */
  @Column({ type: 'timestamptz' })
  readonly at!: Date;

  /** When the gateway stops to look after it. */
  @Column({ name: 'ends_at', type: 'timestamptz' })
  readonly endsAt!: Date;

  /** null: nothing is left to do. */
  @Index('ix_provider_jobs_next_check_at')
  @Column({ name: 'next_check_at', type: 'timestamptz', nullable: true })
  readonly nextCheckAt!: Date | null;

  /** Of the gateway that looks after it at the moment. */
  @Column({ name: 'claim_id', type: 'uuid', nullable: true })
  readonly claimId!: string | null;

  @Index('ix_provider_jobs_settled_at')
  @Column({ name: 'settled_at', type: 'timestamptz', nullable: true })
  readonly settledAt!: Date | null;
}
