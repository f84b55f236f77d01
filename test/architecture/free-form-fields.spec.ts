// A DTO field that takes a free-form object keeps it unchanged. By default, class-transformer drops fields with the name
// of a member of `Object.prototype`: a key that should enforce `{"constructor": "acme"}` would then enforce nothing.
import { beforeAll, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { FOREIGN_OPTIONS } from '../../src/rerank/rerank.types.js';
import { boundedFields, copyForClass } from '../../src/common/validation/bounded-fields.js';
import { dtoClasses, fieldsOf } from '../support/dto-classes.js';

/** Strings, since some free-form objects accept nothing else. */
const GIVEN: unknown = JSON.parse(
  '{"__proto__": "a", "constructor": "b", "prototype": "c", "toString": "d", "hasOwnProperty": "e", "team": "f"}',
);

/** By the names of their fields: `CreateApiKeyDto.metadata`. */
const takers = new Map<string, unknown>();

beforeAll(async () => {
  for (const dto of await dtoClasses()) {
    for (const field of fieldsOf(dto)) {
      if ((boundedFields(dto).get(field) ?? 0) < Object.keys(Object(GIVEN)).length) continue;
      const instance = plainToInstance(dto, copyForClass(dto, { [field]: GIVEN }));
      const errors = validateSync(instance, { whitelist: true, forbidNonWhitelisted: true });
      if (errors.some(({ property }) => property === field) || isLeftOut(field)) continue;
      takers.set(`${dto.name}.${field}`, Reflect.get(instance, field));
    }
  }
});

/** Options of other rerank dialects, whose values nothing reads. */
function isLeftOut(field: string): boolean {
  return FOREIGN_OPTIONS.some((name) => name === field);
}

it('finds every DTO field that takes a free-form object', () => {
  expect([...takers.keys()].sort()).toEqual([
    'CallMcpServerToolDto.arguments',
    'CreateApiKeyDto.metadata',
    'CreateMcpServerDto.headers',
    'CreatePlacedApiKeyDto.metadata',
    'CreateRerankDto.parameters',
    'CreateSecretReferenceDto.auth_config',
    'CreateSecretReferenceDto.tags',
    'CreateVirtualKeyDto.config',
    'FineTuningJobsQuery.metadata',
    'JwtValidationDto.claim_values',
    'KeyDefaultsDto.metadata',
    'KeyUserDto.claims',
    'NewApiKeyDto.metadata',
    'SimulateUsageDto.metadata',
    'ToolChoiceDto.input_schema',
    'UpdateApiKeyDto.metadata',
    'UpdateMcpServerDto.headers',
    'UpdateSecretReferenceDto.auth_config',
    'UpdateSecretReferenceDto.tags',
    'UpdateVirtualKeyDto.config',
    'UsageReportQuery.metadata',
    'WorkspaceDefaultsDto.metadata',
  ]);
});

it('passes free-form objects through every DTO unchanged', () => {
  const given = JSON.stringify(GIVEN);
  for (const [field, value] of takers) expect([field, JSON.stringify(value)]).toEqual([field, given]);
});
