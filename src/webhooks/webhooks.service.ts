import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { namedFields } from '../audit/audit-record.js';
import { Clock } from '../common/time/clock.js';
import { BodyRules } from '../common/validation/body-rules.js';
import { assertFixedFields } from '../common/validation/fixed-fields.decorator.js';
import { withoutUndefined } from '../common/without-undefined.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import {
  CreateWebhookEndpointDto,
  type RotateWebhookSecretDto,
  UpdateWebhookEndpointDto,
} from './dto/webhook-endpoint.dto.js';
import type { WebhookListQuery } from './dto/webhook-list.query.js';
import type { WebhookEndpoint } from './webhook-endpoint.entity.js';
import { WebhookEndpointStore } from './webhook-endpoint.store.js';
import { toWebhookEndpointResponse } from './webhook.response.js';
import { WebhookEncryptor } from './webhook.encryption.js';
import { fieldError, type ErrorDetail } from '../common/errors/gateway.error.js';
import { egressProblem } from '../upstream/egress/egress-refused.error.js';

const DEFAULT_TRANSITION_SECONDS = 86_400;
const NEW = { disabledAt: null };

/** An endpoint, and the secret that is shown only now. */
interface WithSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

@Injectable()
export class WebhooksService {
  constructor(
    private readonly store: WebhookEndpointStore,
    private readonly vault: WebhookEncryptor,
    private readonly workspaces: WorkspacesService,
    private readonly clock: Clock,
    egress: EgressPolicy,
    rules: BodyRules,
  ) {
    for (const dto of [CreateWebhookEndpointDto, UpdateWebhookEndpointDto]) {
      rules.add(dto, ['url'], ({ url }) => (url === undefined ? [] : urlProblems(url, egress)));
    }
  }

  async create(principal: Principal, dto: CreateWebhookEndpointDto): Promise<WithSecret> {
    const workspaceId = await this.workspaces.resolveOrShared(principal, dto.workspace_id);
    const { url, events, description = null, format = 'standard', enabled } = dto;
    const place = { id: randomUUID(), organisationId: principal.organisationId };
    const { secret, columns } = this.vault.issue(place);
    const fields = {
      ...place,
      workspaceId,
      url,
      events,
      description,
      format,
      ...columns,
      ...switched(NEW, enabled, this.clock.now()),
    };
    return { endpoint: await this.store.create(principal, fields, namedFields(dto)), secret };
  }

  async list(principal: Principal, query: WebhookListQuery): Promise<[WebhookEndpoint[], number]> {
    return this.store.list(principal, query, await this.workspaces.filterBy(principal, query.workspace_id));
  }

  async get(principal: Principal, id: string): Promise<WebhookEndpoint> {
    return this.store.get(principal, id);
  }

  async update(principal: Principal, id: string, dto: UpdateWebhookEndpointDto): Promise<WebhookEndpoint> {
    const { url, events, description, format, enabled } = dto;
    const fixed = await this.workspaces.fixedFieldsOf(principal, dto);
    return this.store.change(principal, id, 'update', namedFields(dto), (row) => {
      assertFixedFields(fixed, toWebhookEndpointResponse(row));
      return { ...withoutUndefined({ url, events, description, format }), ...switched(row, enabled, this.clock.now()) };
    });
  }

  /** A new secret; for the transition period deliveries carry the signatures of both. */
  async rotateSecret(
    principal: Principal,
    id: string,
    { transition_seconds: seconds = DEFAULT_TRANSITION_SECONDS }: RotateWebhookSecretDto,
  ): Promise<WithSecret> {
    const end = seconds === 0 ? undefined : new Date(this.clock.now().getTime() + seconds * 1_000);
    let secret = '';
    const endpoint = await this.store.change(principal, id, 'rotate_secret', [], (row) => {
      const issued = this.vault.rotate(row, end);
      ({ secret } = issued);
      return issued.columns;
    });
    return { endpoint, secret };
  }

  async delete(principal: Principal, id: string): Promise<void> {
    await this.store.delete(principal, id);
  }
}

/** What switching an endpoint on or off changes. Off stays as it is, with its reason and its time. */
function switched(
  { disabledAt }: Pick<WebhookEndpoint, 'disabledAt'>,
  enabled: boolean | undefined,
  now: Date,
): Partial<WebhookEndpoint> {
  if (enabled === true) return { disabledAt: null, disabledReason: null };
  if (enabled === undefined || disabledAt !== null) return {};
  return { disabledAt: now, disabledReason: 'administrator' };
}

/**
 * What is wrong with an address that the gateway may never call, told now and not at the first event. What its name leads to is
 * checked at every delivery.
 */
function urlProblems(url: string, egress: EgressPolicy): readonly ErrorDetail[] {
  if (!URL.canParse(url)) return [fieldError('url', 'must be a URL, as https://example.com/webhooks')];
  const refusal = egressProblem(egress, url);
  return refusal === undefined ? [] : [fieldError('url', refusal)];
}
