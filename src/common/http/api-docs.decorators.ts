import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { ApiQuery, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { CsvInterceptor } from './csv.interceptor.js';

const ORGANISATION = {
  name: 'organisation_id',
  required: false,
  schema: { type: 'string', format: 'uuid' },
  description:
    "The organisation to act in. Needed only with an administrator's token that grants several. A body may name it instead.",
} as const;

/** Documents that the organisation can be named in the query. */
export function ApiOrganisation(): ClassDecorator & MethodDecorator {
  return ApiQuery(ORGANISATION);
}

/** Documents every route of a management controller: its tag, the key or token, and the organisation. Its lists can be CSV. */
export function ManagementApi(tag: string): ClassDecorator {
  return applyDecorators(
    ApiTags(tag),
    ApiSecurity('gatewayKey'),
    ApiSecurity('bearer'),
    ApiOrganisation(),
    UseInterceptors(CsvInterceptor),
  );
}
