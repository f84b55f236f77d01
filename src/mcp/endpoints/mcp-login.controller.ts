import { Controller, Get, Header, HttpCode, HttpStatus, Options, Post } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../../access/route-access.decorators.js';
import { StreamedBody } from '../../common/http/execution-context.js';
import { AppConfig } from '../../config/environment.js';
import { ownAuthorizationServers } from '../../identity/authenticators/protected-resource.js';

/** RFC 6749, section 5.2; RFC 7591, section 3.2.2. */
interface OAuthError {
  readonly error: 'invalid_request';
  readonly error_description: string;
}

const WITH_A_KEY =
  'This gateway has no authorization server. Connect with a gateway key that has the scope mcp.invoke: send it in the header ' +
  'x-gateway-api-key, or as Authorization: Bearer <key>.';

/** Of RFC 6749, 7591, 7009, 7662, 8628, 9126 and OpenID Connect, at the names that clients and frameworks assume. */
const ENDPOINTS = [
  'authorize',
  'device_authorization',
  'introspect',
  'oauth/*path',
  'par',
  'register',
  'revoke',
  'token',
  'userinfo',
];
/** RFC 8414 and OpenID Connect Discovery. Only 404 makes clients go on to the next address. */
const METADATA = ['oauth-authorization-server', 'openid-configuration'].flatMap((name) => [
  `.well-known/${name}`,
  `.well-known/${name}/*path`,
]);

/**
 * Where clients look for an authorization server when the metadata name none: at the origin, by fixed names (MCP 2025-03-26).
 * They print `error_description`. Without this form they would report that the answer cannot be parsed.
 */
@ApiExcludeController()
@Public('clients without a key come here')
@Controller()
export class McpLoginController {
  private readonly answer: OAuthError;

  constructor(config: AppConfig) {
    const [server] = ownAuthorizationServers(config);
    const error_description = server === undefined ? WITH_A_KEY : elsewhere(server);
    this.answer = { error: 'invalid_request', error_description };
  }

  @Post(ENDPOINTS)
  @HttpCode(HttpStatus.BAD_REQUEST)
  @Header('access-control-allow-origin', '*')
  @Header('cache-control', 'no-store')
  @StreamedBody()
  refuse(): OAuthError {
    return this.answer;
  }

  /** `/authorize` is opened by a browser, `/userinfo` read by programs; the others are wrong with GET anyway. */
  @Get(ENDPOINTS)
  @HttpCode(HttpStatus.BAD_REQUEST)
  @Header('access-control-allow-origin', '*')
  @Header('cache-control', 'no-store')
  refuseRead(): OAuthError {
    return this.answer;
  }

  @Get(METADATA)
  @HttpCode(HttpStatus.NOT_FOUND)
  @Header('access-control-allow-origin', '*')
  @Header('cache-control', 'no-store')
  hasNoMetadata(): OAuthError {
    return this.answer;
  }

  @Options([...ENDPOINTS, ...METADATA])
  @HttpCode(HttpStatus.NO_CONTENT)
  @Header('access-control-allow-origin', '*')
  @Header('access-control-allow-methods', 'GET, POST')
  @Header('access-control-allow-headers', 'authorization, content-type, mcp-protocol-version')
  preflight(): void {}
}

function elsewhere(server: string): string {
  return `This gateway is not an authorization server. Log in at ${server}, or connect with a gateway key in the header x-gateway-api-key.`;
}
