import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

const VERSION = '0.1.0';

/** The document at /docs/openapi.json and the page at /docs. Both are made when they are first asked for. */
export function setUpOpenApi(app: NestExpressApplication): void {
  let document: OpenAPIObject | undefined;
  SwaggerModule.setup('docs', app, () => (document ??= createDocument(app)), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Tollgate API',
  });
}

function createDocument(app: NestExpressApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Tollgate')
    .setDescription('An open, self-hosted gateway between applications or agents and AI providers or MCP servers.')
    .setVersion(VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion('3.0.3')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-gateway-api-key' }, 'gatewayKey')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', description: "A gateway key, or an administrator's OIDC token." },
      'bearer',
    )
    .build();
  return SwaggerModule.createDocument(app, config);
}
