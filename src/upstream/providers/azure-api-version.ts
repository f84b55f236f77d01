import { applyDecorators } from '@nestjs/common';
import { Matches } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import type { ProviderRequest } from './provider.types.js';

/** An option with the value of the query parameter `api-version`, which selects the version of an Azure API. */
export const AzureApiVersion = (): PropertyDecorator => applyDecorators(Optional(), Matches(/^[0-9A-Za-z.-]{1,40}$/));

/** @param version used unless the request itself names one */
export function withApiVersion(request: ProviderRequest, version: string | undefined): ProviderRequest {
  if (version === undefined || request.query?.['api-version'] !== undefined) return request;
  return { ...request, query: { ...request.query, 'api-version': version } };
}
