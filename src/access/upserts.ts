import { Injectable } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import type { Response } from 'express';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { SLUG_PATTERN } from '../common/slug.js';
import { isUuid } from '../common/uuid.js';
import { BodyRules } from '../common/validation/body-rules.js';
import { givenBody } from '../common/validation/fixed-fields.decorator.js';
import { GatewayValidationPipe } from '../common/validation/gateway-validation.pipe.js';
import type { Principal } from './principal.js';
import { assertScope, type Scope } from './scopes.js';

/** A PUT of a resource that has a slug. */
export interface PutRequest<Create extends object> {
  readonly principal: Principal;
  /** Id or slug, from the address. */
  readonly ref: string;
  /** The body, as the DTO of an update. */
  readonly dto: object;
  /** The DTO of a create. */
  readonly type: new () => Create;
  /** The scope of a create. */
  readonly scope: Scope;
  readonly response: Response;
}

/** PUT on a slug that does not exist creates the resource, if the body has all that a create needs. */
@Injectable()
export class Upserts {
  private readonly pipe: GatewayValidationPipe;

  constructor(rules: BodyRules) {
    this.pipe = new GatewayValidationPipe(rules);
  }

  /**
   * @throws GatewayError `not_found` for an unknown id and for an incomplete body, `permission_denied` for a caller that may
   * not create; otherwise as `update` and `create`
   */
  async put<Create extends object, Answer>(
    request: PutRequest<Create>,
    update: () => Promise<Answer>,
    create: (fields: Create) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await update();
    } catch (error) {
      if (!isMissing(error) || !isComplete(request)) throw error;
    }
    const fields = await this.fieldsOf(request);
    try {
      const created = await create(fields);
      request.response.status(201);
      return created;
    } catch (taken) {
      if (!isSlugTaken(taken)) throw taken;
      // Another request has created it in the meantime, unless the slug belongs to a resource that the caller cannot see.
      return update().catch((error: unknown) => {
        throw isMissing(error) ? taken : error;
      });
    }
  }

  private async fieldsOf<Create extends object>({
    principal,
    ref,
    dto,
    type,
    scope,
  }: PutRequest<Create>): Promise<Create> {
    assertScope(principal, scope);
    const body = givenBody(dto);
    if ((body['slug'] ?? ref) !== ref) throw invalidField('slug', 'must be the slug in the address');
    const made: unknown = await this.pipe.transform({ ...body, slug: ref }, { type: 'body', metatype: type });
    if (!(made instanceof type)) throw new Error('the validation returned something else than a DTO');
    return made;
  }
}

/** Whether the address has a slug, and the body every field that a create requires. */
function isComplete({ ref, dto, type }: PutRequest<object>): boolean {
  const body = givenBody(dto);
  return (
    !isUuid(ref) && SLUG_PATTERN.test(ref) && requiredFieldsOf(type).every((name) => (body[name] ?? null) !== null)
  );
}

/** The fields of a DTO that may not be absent. */
function requiredFieldsOf(type: new () => object): readonly string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const optional = new Set(rules.filter((rule) => rule.type === OPTIONAL).map((rule) => rule.propertyName));
  return [...new Set(rules.map((rule) => rule.propertyName))].filter((name) => !optional.has(name));
}

/** class-validator's name of the rule that `@Optional()` is. */
const OPTIONAL = 'conditionalValidation';

function isMissing(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'not_found';
}

function isSlugTaken(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'conflict' && error.param === 'slug';
}
