import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { isUuid } from '../common/uuid.js';
import { PROVIDER_SLUGS } from '../upstream/vendors/vendor.types.js';
import { ANY, type Condition } from './conditions.js';
import type { PolicyKey } from './policy-keys.js';

/** The id of the workspace with that slug. Throws `not_found` for what is none of the caller's. */
export type WorkspaceIdOf = (slug: string) => Promise<string>;

/**
 * Conditions by the names that calls have: a limit for what cannot occur would never hold, and nobody would be told.
 * @throws GatewayError `validation_failed`
 */
export async function readConditionNames<Given extends Condition>(
  conditions: readonly Given[],
  workspaceIdOf: WorkspaceIdOf,
): Promise<Given[]> {
  const read = async (
    key: PolicyKey,
    values: string | readonly string[],
    param: string,
  ): Promise<string | string[]> => {
    const each = (value: string): Promise<string> => readName(key, value, param, workspaceIdOf);
    return typeof values === 'string' ? each(values) : Promise.all(values.map(each));
  };
  return Promise.all(
    conditions.map(async (condition, index) => {
      const { key, value, excludes } = condition;
      return {
        ...condition,
        value: await read(key, value, `conditions.${index}.value`),
        ...(excludes === undefined ? {} : { excludes: await read(key, excludes, `conditions.${index}.excludes`) }),
      };
    }),
  );
}

async function readName(key: PolicyKey, name: string, param: string, workspaceIdOf: WorkspaceIdOf): Promise<string> {
  if (name.endsWith(ANY)) return name;
  switch (key) {
    case 'workspace_id':
      return isUuid(name) ? name : workspaceIdOf(name).catch(refuseUnknown(param, name));
    case 'virtual_key':
      if (isUuid(name)) throw invalidField(param, 'must be the slug of a virtual key, not its id');
      return name;
    case 'provider':
      if (!PROVIDER_SLUGS.some((slug) => slug === name.toLowerCase())) {
        throw invalidField(param, `must be one of ${PROVIDER_SLUGS.join(', ')}`);
      }
      return name;
    default:
      return name;
  }
}

function refuseUnknown(param: string, slug: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof GatewayError) || error.code !== 'not_found') throw error;
    throw invalidField(param, `has no workspace ${JSON.stringify(slug)}`);
  };
}
