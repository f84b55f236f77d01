import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Any, Equal, IsNull, Or, type Repository } from 'typeorm';
import { describeDefect } from '../../common/errors/describe-error.js';
import { DO_NOT_RETRY, GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import { isStorableText } from '../../common/storable-text.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import type { BaseProviderOptions } from '../../upstream/providers/provider.types.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import { answeredIds, isRecordable, usedIds } from './object-ids.js';
import type { OperationInput } from './operation.types.js';
import { ProviderObject } from './provider-object.entity.js';
import type { ProviderObjectKind, RouteObjects } from './relay-route.js';
import { baseUrl, serverOf } from '../../upstream/providers/build-request.js';

/** The owner of the objects that a request may see at its provider. */
export interface Ownership {
  /** `isolation: strict` of the virtual key: only objects that its own workspace created through the gateway. */
  readonly strict: boolean;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly apiKeyId: string;
  readonly provider: string;
  /** As in ProviderObject. */
  readonly server: string;
}

/** Pauses between the tries to record an object of an isolated workspace. */
const RETRY_PAUSES_MS = [200, 600, 1_200] as const;
/** No try begins later, since a try at a silent database takes seconds. */
const LAST_TRY_MS = 4_000;

/** Separates the objects of workspaces in a shared provider account. */
@Injectable()
export class Isolation {
  constructor(
    @InjectRepository(ProviderObject) private readonly objects: Repository<ProviderObject>,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  ownershipOf({ virtualKey, principal }: ProviderContext): Ownership {
    const { options } = virtualKey.credential;
    return {
      strict: 'isolation' in options && options.isolation === 'strict',
      organisationId: principal.organisationId,
      workspaceId: principal.workspaceId ?? virtualKey.workspaceId,
      apiKeyId: principal.id,
      provider: virtualKey.provider.slug,
      server: serverDigest(options),
    };
  }

  /**
   * Refuses a request that names objects of others.
   * @throws GatewayError `not_found`, which does not reveal whether the object exists; `validation_failed` for a cursor
   */
  async assertOwn(
    ownership: Ownership,
    { about, uses, lists }: Pick<RouteObjects, 'about' | 'uses' | 'lists'>,
    input: OperationInput,
  ): Promise<void> {
    if (!ownership.strict) return;
    const named = about === undefined ? [] : [{ ...about, ids: [input.params[about.name] ?? ''] }];
    const used = uses.map((use) => ({ ...use, ids: usedIds(input.body, use.name) }));
    for (const { kind, name, ids } of [...named, ...used]) {
      if (!(await this.ownsAll(ownership, kind, ids))) throw new GatewayError('not_found', { param: name });
    }
    const { after } = input.query;
    if (lists === undefined || after === undefined) return;
    if (!(await this.ownsAll(ownership, lists, [after]))) {
      throw invalidField('after', 'must be the id of an item of this list');
    }
  }

  /**
   * Records the owner of the objects in a successful response.
   * @throws GatewayError when an isolated workspace's new object cannot be recorded: `store_unavailable`, or
   * `provider_invalid_response` when it has no id
   */
  async record(
    ownership: Ownership,
    { creates, produces }: Pick<RouteObjects, 'creates' | 'produces'>,
    answer: unknown,
  ): Promise<void> {
    const made = creates === undefined ? [] : answeredIds(answer, creates.idField);
    const isReachable = made.length > 0 && made.every(isRecordable);
    if (creates !== undefined && ownership.strict && !isReachable) {
      throw new GatewayError('provider_invalid_response', {
        message: 'The provider answered without an id that can be recorded. Do not repeat the request.',
        headers: DO_NOT_RETRY,
        reason: `expected an id that can be recorded at body.${creates.idField}`,
      });
    }
    if (creates !== undefined) await this.rememberMade(ownership, creates.kind, made);
    // Without isolation, results have no owner.
    if (!ownership.strict) return;
    for (const { kind, name } of produces) await this.remember(ownership, kind, answeredIds(answer, name));
  }

  /** Those of the ids that belong to the caller's workspace. */
  async owned(ownership: Ownership, kind: ProviderObjectKind, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { organisationId, workspaceId, provider, server } = ownership;
    const rows = await this.objects.findBy({
      organisationId,
      workspaceId: workspaceId ?? IsNull(),
      provider,
      server: Or(Equal(server), IsNull()),
      kind,
      // One parameter, however many ids there are.
      upstreamId: Any(ids.filter(isStorableText)),
    });
    return new Set(rows.map((row) => row.upstreamId));
  }

  private async ownsAll(ownership: Ownership, kind: ProviderObjectKind, ids: readonly string[]): Promise<boolean> {
    const wanted = new Set(ids);
    return wanted.size === 0 || (await this.owned(ownership, kind, [...wanted])).size === wanted.size;
  }

  /**
   * The objects exist and may cost money, so a failure here must not look like a failed creation: a retry would create
   * and bill another object.
   */
  private async rememberMade(ownership: Ownership, kind: ProviderObjectKind, ids: readonly string[]): Promise<void> {
    const { strict, provider, workspaceId } = ownership;
    try {
      await (strict ? this.rememberPatiently(ownership, kind, ids) : this.remember(ownership, kind, ids));
    } catch (cause) {
      const event = 'provider_objects_not_recorded';
      this.logger.warn({ event, provider, workspace_id: workspaceId, kind, ids, error: describeDefect(cause) });
      if (!strict) return;
      throw new GatewayError('store_unavailable', {
        message: 'The provider made the object, but the gateway could not record it. Do not repeat the request.',
        headers: DO_NOT_RETRY,
        reason: 'database',
        cause,
      });
    }
  }

  private async rememberPatiently(
    ownership: Ownership,
    kind: ProviderObjectKind,
    ids: readonly string[],
  ): Promise<void> {
    const startedAt = performance.now();
    for (const pauseMs of RETRY_PAUSES_MS) {
      try {
        return await this.remember(ownership, kind, ids);
      } catch (error) {
        if (performance.now() - startedAt + pauseMs > LAST_TRY_MS) throw error;
        await sleep(pauseMs);
      }
    }
    return this.remember(ownership, kind, ids);
  }

  /** The first owner stays the owner. An id that cannot be stored has no owner. */
  private async remember(ownership: Ownership, kind: ProviderObjectKind, given: readonly string[]): Promise<void> {
    const ids = given.filter(isRecordable);
    if (ids.length === 0) return;
    const { organisationId, workspaceId, apiKeyId, provider, server } = ownership;
    await this.objects
      .createQueryBuilder()
      .insert()
      .values(ids.map((upstreamId) => ({ organisationId, workspaceId, apiKeyId, provider, server, kind, upstreamId })))
      .orIgnore()
      .execute();
  }
}

/** The empty text stands for the provider's own server. A digest, since base URLs may be longer than an index takes. */
function serverDigest(options: BaseProviderOptions): string {
  const { base_url } = options;
  if (base_url === undefined) return '';
  const known = digests.get(options);
  if (known !== undefined) return known;
  const digest = createHash('sha256')
    .update(serverOf(baseUrl({ base_url })))
    .digest('base64url');
  digests.set(options, digest);
  return digest;
}

/** By the options of a virtual key, which its calls share. */
const digests = new WeakMap<BaseProviderOptions, string>();
