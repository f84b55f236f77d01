import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../../access/route-access.decorators.js';
import { JwksResponse } from './jwks.response.js';
import { SigningKeys } from './signing-keys.js';

@ApiTags('MCP')
@Controller('.well-known')
@Public('MCP servers fetch public keys without a key of their own')
export class JwksController {
  constructor(private readonly keys: SigningKeys) {}

  /** Retrieves the public keys that verify user identities at MCP servers. Empty when the gateway has no signing key. */
  @Get('jwks.json')
  @Header('cache-control', 'public, max-age=300')
  @Header('access-control-allow-origin', '*')
  retrieveJwks(): JwksResponse {
    return { keys: [...this.keys.published] };
  }
}
