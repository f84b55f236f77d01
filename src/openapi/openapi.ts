import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, getSchemaPath, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { controllerClasses } from '../access/assert-routes-declared.js';
import { ErrorResponse } from '../common/errors/error.response.js';
import { renderErrorsDoc } from '../common/errors/render-errors-doc.js';
import { VERSION } from '../common/version.js';
import { AppConfig } from '../config/environment.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import { writeBodyExamples } from './body-examples.js';
import { closeInputs } from './closed-inputs.js';
import { enrichSchemas, parameterClasses } from './enrich-schemas.js';
import { describePublicOperations } from './operations.js';
import { makeDefaultedParametersOptional, makeEmptyBodiesOptional } from './optional-inputs.js';
import { keepRulesOfText } from './text-parameters.js';
import { describeWholeNumbers } from './whole-numbers.js';

/**
 * In 3.1 schemas are JSON Schema: "or null" is one of the types, or one `anyOf`, which validators and generators of clients
 * read alike. In 3.0 `nullable` does nothing beside an `enum` without null or an `allOf`, so that strict validators refuse
 * nulls that the gateway answers; what is right there, `anyOf` with an `enum` of null, few generators understand.
 */
const OPENAPI_VERSION = '3.1.0';

/** Before the table of errors. What has no operation here follows a specification of its own, or is for machines. */
const INTRODUCTION = `An open, self-hosted gateway between applications or agents and AI providers or MCP servers.

Not among the operations below: MCP servers, which speak MCP at \`/{server}/mcp\` and \`/{workspace}/{server}/mcp\` (the \`mcp_url\` of a
server) and tell where to log in under \`/.well-known/oauth-protected-resource\` (RFC 9728); \`POST /v2/rerank\`, which is \`POST /v1/rerank\` at
the address that Cohere's current SDKs use; and \`GET /metrics\`, for Prometheus.
`;

/** The document at /docs/openapi.json and the page at /docs. Both are made when they are first asked for. */
export function setUpOpenApi(app: NestExpressApplication): void {
  let document: OpenAPIObject | undefined;
  SwaggerModule.setup('docs', app, () => (document ??= createDocument(app)), {
    raw: ['json'],
    jsonDocumentUrl: 'docs/openapi.json',
    customSiteTitle: 'Tollgate API',
  });
}

function createDocument(app: NestExpressApplication): OpenAPIObject {
  const { PUBLIC_URL: publicUrl } = app.get(AppConfig);
  const builder = new DocumentBuilder()
    .setTitle('Tollgate')
    .setDescription(`${INTRODUCTION}\n${renderErrorsDoc()}`)
    .setVersion(VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion(OPENAPI_VERSION)
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-gateway-api-key' }, 'gatewayKey')
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', description: "A gateway key, or an administrator's OIDC token." },
      'bearer',
    )
    .addGlobalResponse({
      status: 'default',
      description: 'Any error; the table of codes is in the description of this document.',
      type: ErrorResponse,
    });
  if (publicUrl !== undefined) builder.addServer(publicUrl.replace(/\/+$/, ''));
  const optionClasses = app
    .get(ProviderRegistry, { strict: false })
    .all()
    .map((provider) => provider.optionsClass);
  const document = SwaggerModule.createDocument(app, builder.build(), { extraModels: optionClasses });
  describeProviderOptions(document, optionClasses);
  makeDefaultedParametersOptional(document);
  makeEmptyBodiesOptional(document);
  describePublicOperations(document);
  keepRulesOfText(document);
  enrichSchemas(document, [...parameterClasses(controllerClasses(app)), ...optionClasses]);
  closeInputs(document, optionClasses);
  describeWholeNumbers(document);
  writeBodyExamples(document);
  return document;
}

/**
 * What `config` of a new virtual key may hold depends on its provider: the document lists one schema a provider. That of an
 * update is merged, and any of its fields may be null.
 */
function describeProviderOptions(document: OpenAPIObject, optionClasses: readonly { readonly name: string }[]): void {
  const schema = document.components?.schemas?.['CreateVirtualKeyDto'];
  const config = schema !== undefined && 'properties' in schema ? schema.properties?.['config'] : undefined;
  if (config === undefined || '$ref' in config) throw new Error('the document has no CreateVirtualKeyDto.config');
  config.anyOf = optionClasses.map((optionsClass) => ({ $ref: getSchemaPath(optionsClass.name) }));
}
