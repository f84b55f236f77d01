import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import { walkFields } from '../common/json/fields.js';
import { isObject } from '../common/json/read.js';
import type { ProviderContext } from '../gateway/provider-context.decorator.js';
import { idempotencyKey } from '../gateway/relay/idempotency-key.js';
import { Isolation } from '../gateway/relay/isolation.js';
import type { ObjectReference, ProviderObjectKind } from '../gateway/relay/relay-route.js';
import { bodyObject } from './body-object.js';

/** Separates the workspaces of a shared provider account in calls of models (`isolation: strict`). */
@Injectable()
export class IsolatedCalls {
  constructor(private readonly isolation: Isolation) {}

  /**
   * Refuses a body that names objects of other workspaces. Without isolation, checks nothing.
   * @throws GatewayError `not_found`, which does not reveal whether the object exists; `validation_failed`
   */
  async assertOwn(context: ProviderContext, uses: readonly ObjectReference[], body: Buffer): Promise<void> {
    const ownership = this.isolation.ownershipOf(context);
    if (!ownership.strict) return;
    const objects = { about: undefined, lists: undefined, uses };
    await this.isolation.assertOwn(ownership, objects, { params: {}, query: {}, body: readUnambiguously(body) });
  }

  /**
   * The `Idempotency-Key` for the provider.
   * @throws GatewayError `validation_failed`
   */
  idempotencyHeader(context: ProviderContext, headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
    const key = idempotencyKey(headers, this.isolation.ownershipOf(context));
    return key === undefined ? {} : { 'idempotency-key': key };
  }

  /**
   * Records the owner of an object. Without isolation, records nothing, since every call creates one.
   * @throws GatewayError `store_unavailable`
   */
  async record(context: ProviderContext, kind: ProviderObjectKind, id: string): Promise<void> {
    const ownership = this.isolation.ownershipOf(context);
    if (ownership.strict)
      await this.isolation.record(ownership, { creates: { kind, idField: 'id' }, produces: [] }, { id });
  }
}

/** Refuses duplicate fields: the provider might read the one that was not checked. */
function readUnambiguously(body: Buffer): Readonly<Record<string, unknown>> {
  const parsed = bodyObject(body);
  let fields = 0;
  let refers = false;
  const isWhole = walkFields(body, (field) => {
    fields += 1;
    refers ||= field.name === 'type' && field.text === 'item_reference';
  });
  if (!isWhole) throw new GatewayError('validation_failed', { message: 'The request body has too many fields.' });
  if (fields !== fieldsIn(parsed)) {
    const message = 'No field may come twice in a body: the virtual key isolates workspaces.';
    throw new GatewayError('validation_failed', { message });
  }
  // The owner of a referenced item is unknown.
  if (refers) throw new GatewayError('not_found', { param: 'input' });
  return parsed;
}

function fieldsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + fieldsIn(item), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, item) => sum + 1 + fieldsIn(item), 0);
}
