import { ApiPropertyOptional } from '@nestjs/swagger';
import { AzureApiVersion } from '../../upstream/providers/azure-api-version.js';
import type { RelayRoute } from './relay-route.js';

/** Query parameter of every relay route. */
export const API_VERSION = 'api-version';

class NoParameters {}

/** The class of a route's query: its own parameters, and those of every route. */
export function relayQueryOf({ query = NoParameters }: Pick<RelayRoute, 'query'>): new () => object {
  class RelayQuery extends query {
    @ApiPropertyOptional({
      description: 'Version of an Azure API. It takes precedence over the `api_version` of the virtual key.',
      example: '2024-10-21',
    })
    @AzureApiVersion()
    readonly [API_VERSION]?: string;
  }
  return RelayQuery;
}
