import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ErrorResponse } from '../errors/error.response.js';

/** What the documentation says of every authenticated route: its tag, the gateway key, and the error body. */
export function ManagementApi(tag: string): ClassDecorator {
  return applyDecorators(
    ApiTags(tag),
    ApiSecurity('gatewayKey'),
    ApiSecurity('bearer'),
    ApiExtraModels(ErrorResponse),
    ApiResponse({
      status: 'default',
      description: 'Any error; see the table of codes in docs/errors.md.',
      type: ErrorResponse,
    }),
  );
}
