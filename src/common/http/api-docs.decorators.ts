import { applyDecorators } from '@nestjs/common';
import { ApiQuery, ApiSecurity, ApiTags } from '@nestjs/swagger';

const ORGANISATION = {
  name: 'organisation_id',
  required: false,
  schema: { type: 'string', format: 'uuid' },
  description:
    "Only with an administrator's token that grants several organisations: the one to act in. A body may name it instead.",
} as const;

/** What the documentation says of every route of a management room: its tag, and the key or token that it takes. */
export function ManagementApi(tag: string): ClassDecorator {
  return applyDecorators(ApiTags(tag), ApiSecurity('gatewayKey'), ApiSecurity('bearer'), ApiQuery(ORGANISATION));
}
