import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { GatewayValidationPipe } from '../../common/validation/gateway-validation.pipe.js';
import { IsSecretMappings } from './secret-mapping.dto.js';

class Owner {
  @IsSecretMappings()
  readonly secret_mappings: unknown;
}

const VALID = { target_field: 'key', secret_reference_id: 'openai' };

async function paramOf(secret_mappings: unknown): Promise<string | null | undefined> {
  try {
    await new GatewayValidationPipe().transform({ secret_mappings }, { type: 'body', metatype: Owner });
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error.param;
    throw error;
  }
}

describe('IsSecretMappings', () => {
  it.each([
    [[]],
    [[VALID]],
    [[{ ...VALID, secret_key: 'api_key', value_format: 'json' }]],
    [[{ ...VALID, secret_key: null, value_format: null }]],
    [Array.from({ length: 32 }, () => VALID)],
  ])('accepts the mappings %j', async (mappings) => expect(await paramOf(mappings)).toBeUndefined());

  it.each([
    ['no list', VALID, 'secret_mappings'],
    ['null', null, 'secret_mappings'],
    ['too many', Array.from({ length: 33 }, () => VALID), 'secret_mappings'],
    ['an item that is not an object', [VALID, 'key'], 'secret_mappings.1'],
    ['a list in the list', [[VALID]], 'secret_mappings.0'],
    ['null in the list', [null], 'secret_mappings.0'],
    ['a missing field', [{ target_field: 'key' }], 'secret_mappings.0.secret_reference_id'],
    ['a field of another type', [{ ...VALID, target_field: 1 }], 'secret_mappings.0.target_field'],
    ['an empty key', [{ ...VALID, secret_key: '' }], 'secret_mappings.0.secret_key'],
    ['a key that cannot be stored', [{ ...VALID, secret_key: '\0' }], 'secret_mappings.0.secret_key'],
    ['an unknown format', [{ ...VALID, value_format: 'yaml' }], 'secret_mappings.0.value_format'],
    ['an unknown field', [VALID, { ...VALID, extra: 1 }], 'secret_mappings.1.extra'],
  ])('refuses %s and names its field', async (_what, mappings, param) => expect(await paramOf(mappings)).toBe(param));
});
