import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { AuditService } from '../audit/audit.service.js';
import { namedFields } from '../audit/audit-record.js';
import { throwIfInvalid, fieldError, type ErrorDetail, GatewayError } from '../common/errors/gateway.error.js';
import { UNITS } from '../common/money/units.js';
import { BodyRules } from '../common/validation/body-rules.js';
import { assertFixedFields } from '../common/validation/fixed-fields.decorator.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { insertRow, updateRow, withFreeSlug } from '../database/rows.js';
import { USAGE_STORE } from '../usage/usage-store.token.js';
import type { Transaction, UsageStore } from '../usage/usage-store.types.js';
import { windowAt } from '../usage/windows.js';
import { entryOf } from './audit-entry.js';
import { isReadable, readPolicy } from './compiled-policies.js';
import { readableConditions } from './conditions.js';
import type { UsageLimitListQuery } from './dto/usage-limit-list.query.js';
import { type ConditionDto, CreateUsageLimitDto, UpdateUsageLimitDto } from './dto/usage-limit.dto.js';
import { precisionOf, toUnits } from './limits.js';
import { periodOf, periodProblems } from './periods.js';
import { PolicyCache } from './policy.cache.js';
import { PolicyNames } from './policy-names.js';
import { PolicyStore } from './policy.store.js';
import { toUsageLimitResponse, type UsageLimitResponse } from './usage-limit.response.js';
import { UsagePolicy } from './usage-policy.entity.js';

const PERIOD = ['periodic_reset', 'periodic_reset_days'] as const;
/** The slug of a policy without a name is made of this. */
const NAMELESS = 'limit';

/** Creates, reads and changes policies. Usage is read elsewhere. */
@Injectable()
export class UsageLimitsService {
  constructor(
    private readonly store: PolicyStore,
    private readonly names: PolicyNames,
    private readonly audit: AuditService,
    private readonly cache: PolicyCache,
    @Inject(USAGE_STORE) private readonly usage: UsageStore,
    rules: BodyRules,
  ) {
    rules.add(CreateUsageLimitDto, ['type', 'credit_limit', 'alert_threshold'], (dto) =>
      amountProblems(dto.type, dto.credit_limit, dto.alert_threshold ?? null),
    );
    rules.add(CreateUsageLimitDto, ['group_by'], groupProblems);
    rules.add(CreateUsageLimitDto, PERIOD, periodProblems);
    rules.add(UpdateUsageLimitDto, PERIOD, periodProblems);
  }

  async create(principal: Principal, dto: CreateUsageLimitDto, now: Date): Promise<UsagePolicy> {
    const workspaceId = await this.names.workspaceFor(principal, dto.workspace_id);
    const { organisationId } = principal;
    const conditions = await this.names.conditions({ organisationId, workspaceId }, dto.conditions);
    const columns = {
      id: randomUUID(),
      organisationId,
      workspaceId,
      activeWorkspaceId: workspaceId,
      name: dto.name ?? null,
      description: dto.description ?? null,
      conditions,
      groupBy: dto.group_by.map(({ key }) => key),
      type: dto.type,
      creditLimit: toDecimal(dto.credit_limit),
      alertThreshold: toDecimal(dto.alert_threshold ?? null),
      periodicReset: periodOf(dto, null, now) ?? null,
      enforcement: dto.enforcement ?? 'strict',
      unbounded: dto.unbounded ?? 'refuse',
    };
    const saved = await withFreeSlug(dto.slug, dto.name ?? NAMELESS, (slug) =>
      this.store.rows.manager.transaction(async (manager) => {
        const policy = await insertRow(manager, manager.create(UsagePolicy, { ...columns, slug }));
        await this.audit.record(
          manager,
          principal,
          entryOf('create', policy, namedFields(dto), { after: this.shown(policy) }),
        );
        return policy;
      }),
    );
    this.cache.forget(organisationId);
    return saved;
  }

  async list(principal: Principal, query: UsageLimitListQuery): Promise<[UsagePolicy[], number]> {
    const { workspace_id: ref } = query;
    const workspaceId = ref === undefined ? undefined : await this.names.workspaceId(principal, ref);
    return this.store.list(principal, query, workspaceId);
  }

  async get(principal: Principal, id: string): Promise<UsagePolicy> {
    return this.store.get(principal, id);
  }

  /**
   * Groups that have already reached a lowered limit or threshold raise their alert with the change, including usage
   * counted when the policy had this period before.
   */
  async update(principal: Principal, id: string, dto: UpdateUsageLimitDto, now: Date): Promise<UsagePolicy> {
    const { name, description, credit_limit, alert_threshold, enforcement, unbounded } = dto;
    const conditions = dto.conditions && (await this.readConditions(principal, id, dto.conditions));
    const fixed = await this.names.fixedFieldsOf(principal, dto);
    const saved = await this.store.rows.manager.transaction(async (manager) => {
      const policy = await this.store.getForChange(manager, principal, id);
      assertInForce(policy);
      assertFixedFields(fixed, toUsageLimitResponse(policy, now));
      const period = periodOf(dto, policy.periodicReset, now);
      const setsAmount = credit_limit !== undefined || alert_threshold !== undefined;
      if (setsAmount && UNITS.includes(policy.type)) {
        const threshold = alert_threshold === undefined ? toNumber(policy.alertThreshold) : alert_threshold;
        throwIfInvalid(amountProblems(policy.type, credit_limit ?? Number(policy.creditLimit), threshold));
      }
      const changes = withoutUndefined({
        name,
        description,
        conditions,
        creditLimit: changedAmount(policy.creditLimit, credit_limit),
        alertThreshold: changedAmount(policy.alertThreshold, alert_threshold),
        periodicReset: period,
        enforcement,
        unbounded,
      });
      const changed = await updateRow(manager, policy, changes);
      if (changed === policy) return policy;
      // A policy that cannot be read accepts a new period, but no amounts.
      if (setsAmount || (period !== undefined && isReadable(changed))) {
        await this.applyLimit(changed, now, manager);
      }
      const snapshots = { before: this.shown(policy), after: this.shown(changed) };
      await this.audit.record(manager, principal, entryOf('update', changed, namedFields(dto), snapshots));
      return changed;
    });
    this.cache.forget(principal.organisationId);
    return saved;
  }

  /** Archives the policy: it no longer applies, and its usage stays readable. Idempotent. */
  async archive(principal: Principal, id: string): Promise<void> {
    await this.store.rows.manager.transaction(async (manager) => {
      const policy = await this.store.getForChange(manager, principal, id);
      if (policy.status === 'archived') return;
      const before = this.shown(policy);
      await manager.save(Object.assign(policy, { status: 'archived' as const, activeWorkspaceId: null }));
      const snapshots = { before, after: this.shown(policy) };
      await this.audit.record(manager, principal, entryOf('delete', policy, [], snapshots));
    });
    this.cache.forget(principal.organisationId);
  }

  /** For the audit log, which leaves out what depends on the time. */
  private shown(policy: UsagePolicy): UsageLimitResponse {
    return toUsageLimitResponse(policy, policy.createdAt);
  }

  private async readConditions(
    principal: Principal,
    id: string,
    conditions: readonly ConditionDto[],
  ): Promise<ConditionDto[]> {
    const policy = await this.store.get(principal, id);
    assertInForce(policy);
    return this.names.conditions(policy, conditions, readableConditions(policy.conditions));
  }

  private async applyLimit(policy: UsagePolicy, now: Date, transaction: Transaction): Promise<void> {
    const { id: policyId, organisationId } = policy;
    const { limit, threshold } = readPolicy(policy);
    const { id: windowId } = windowAt(policy.periodicReset, now);
    await this.usage.changeLimit({ organisationId, policyId, windowId, limit, threshold }, transaction);
  }
}

function assertInForce({ status }: UsagePolicy): void {
  if (status === 'archived') throw new GatewayError('conflict', { message: 'The usage limit is archived.' });
}

function amountProblems(type: UsagePolicy['type'], limit: number, threshold: number | null): readonly ErrorDetail[] {
  const details: ErrorDetail[] = [];
  if (toUnits(type, limit) === undefined) {
    details.push({ param: 'credit_limit', message: `credit_limit must ${precisionOf(type)}` });
  }
  if (threshold !== null && toUnits(type, threshold) === undefined) {
    details.push({ param: 'alert_threshold', message: `alert_threshold must ${precisionOf(type)}` });
  }
  if (threshold !== null && threshold >= limit) {
    details.push(fieldError('alert_threshold', 'must be less than credit_limit'));
  }
  return details;
}

function groupProblems({ group_by: groups }: Pick<CreateUsageLimitDto, 'group_by'>): readonly ErrorDetail[] {
  const seen = new Set<string>();
  const details: ErrorDetail[] = [];
  for (const [index, { key }] of groups.entries()) {
    if (seen.has(key)) details.push(fieldError(`group_by.${index}.key`, 'comes twice'));
    seen.add(key);
  }
  return details;
}

/** Returns undefined when nothing changes. The column may write the same amount with other digits. */
function changedAmount(stored: string, amount: number | undefined): string | undefined;
function changedAmount(stored: string | null, amount: number | null | undefined): string | null | undefined;
function changedAmount(stored: string | null, amount: number | null | undefined): string | null | undefined {
  return amount === undefined || amount === toNumber(stored) ? undefined : toDecimal(amount);
}

function toDecimal(amount: number): string;
function toDecimal(amount: number | null): string | null;
function toDecimal(amount: number | null): string | null {
  return amount === null ? null : String(amount);
}

function toNumber(decimal: string | null): number | null {
  return decimal === null ? null : Number(decimal);
}
