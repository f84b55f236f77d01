import { describe, expect, it } from '@jest/globals';
import { plainToInstance, Type } from 'class-transformer';
import { ArrayMinSize, IsArray, IsInt, IsString, ValidateBy, ValidateNested, validateSync } from 'class-validator';
import type { GatewayError } from '../errors/gateway.error.js';
import { toValidationError } from './validation-details.js';

class Condition {
  @IsString()
  readonly key: string;
}

class Policy {
  @IsInt()
  readonly credit_limit: number;

  @IsArray()
  @ArrayMinSize(1)
  @ValidateNested({ each: true })
  @Type(() => Condition)
  readonly conditions: Condition[];

  /** Like rules for whole arrays: the message names a place inside. */
  @ValidateBy({
    name: 'evenPlaces',
    validator: {
      validate: (value) => value === undefined,
      defaultMessage: () => 'places.3.text must be a string',
    },
  })
  readonly places?: unknown;
}

const VALID = { credit_limit: 1, conditions: [{ key: 'model' }] };

function errorFor(body: object): GatewayError {
  return toValidationError(
    validateSync(plainToInstance(Policy, body), { whitelist: true, forbidNonWhitelisted: true }),
  );
}

describe('toValidationError', () => {
  it('returns a 400 that names the first invalid field', () => {
    expect(errorFor({ ...VALID, credit_limit: 'ten' })).toMatchObject({
      code: 'validation_failed',
      status: 400,
      param: 'credit_limit',
    });
  });

  it.each([
    ['a nested field', { conditions: [{ key: 'model' }, { key: 1 }] }, 'conditions.1.key'],
    ['a nested field that is missing', { conditions: [{}] }, 'conditions.0.key'],
    ['a place that a rule found in a field', { places: [] }, 'places.3.text'],
    ['an unknown field', { extra: 1 }, 'extra'],
    ['an unknown nested field', { conditions: [{ key: 'model', extra: 1 }] }, 'conditions.0.extra'],
    ['an array that is none', { conditions: 'model' }, 'conditions'],
  ])('names %s by its path', (_what, change, param) => {
    const { details = [] } = errorFor({ ...VALID, ...change });
    expect(details.map((detail) => detail.param)).toContain(param);
    for (const detail of details) expect(detail.message.startsWith(detail.param ?? '')).toBe(true);
  });

  it('says of a value that is not there that it is required, and no more', () => {
    expect(errorFor({ credit_limit: 1, conditions: [{}] }).details).toEqual([
      { param: 'conditions.0.key', message: 'conditions.0.key is required' },
    ]);
    expect(errorFor({ credit_limit: 1, conditions: [{ key: null }] }).message).not.toContain('required');
  });

  it('lists every broken rule in the details, and the first one in the message', () => {
    const error = errorFor({ credit_limit: 'ten', conditions: [{ key: 1 }], extra: 1 });
    expect(new Set(error.details?.map((detail) => detail.param))).toEqual(
      new Set(['credit_limit', 'conditions.0.key', 'extra']),
    );
    expect(error.message).toBe(`${error.details?.[0]?.message} (and 2 more)`);
  });

  it('says of which type a value has to be before it says its bounds', () => {
    const messages = errorFor({ ...VALID, conditions: 'model' }).details?.map(({ message }) => message) ?? [];
    expect(messages.length).toBeGreaterThan(1);
    expect(messages[0]).toBe('conditions must be an array');
  });

  it('never shows the invalid value', () => {
    const error = errorFor({ credit_limit: 'hunter2', conditions: [{ key: ['hunter2'] }], places: 'hunter2' });
    expect(JSON.stringify(error.details) + error.message).not.toContain('hunter2');
  });
});
