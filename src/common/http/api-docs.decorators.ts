import { applyDecorators } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';

/** What the documentation says of every route of a management room: its tag, and the key or token that it takes. */
export function ManagementApi(tag: string): ClassDecorator {
  return applyDecorators(ApiTags(tag), ApiSecurity('gatewayKey'), ApiSecurity('bearer'));
}
