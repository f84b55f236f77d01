import type { INestApplication } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { getSchemaPath, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { controllerClasses, type DeclaredRoute, declaredRoutes } from '../access/assert-routes-declared.js';
import { AppConfig } from '../config/environment.js';
import { ProviderRegistry } from '../upstream/providers/provider.registry.js';
import { forbidAdditionalProperties } from './additional-properties.js';
import { writeBodyExamples } from './body-examples.js';
import { operationsOf } from './document.js';
import { writeErrorResponses } from './error-responses.js';
import { documentInfo } from './info.js';
import { writeIntegerTypes } from './integer-types.js';
import { addMcpOperations } from './mcp-operations.js';
import { makeDefaultedParametersOptional, makeEmptyBodiesOptional } from './optional-bodies.js';
import { guardDocs } from './docs-gate.js';
import { writeReadOnlyFields } from './read-only-fields.js';
import { describeDeepObjects, describePathParameters } from './path-parameters.js';
import { renameSchemas } from './schema-names.js';
import { parameterClasses, removeRulesOfParsedText, writeValidationRules } from './validation-rules.js';

interface DocumentOptions {
  readonly publicUrl?: string | undefined;
  /** The classes of `config` of virtual keys, one per provider. */
  readonly optionClasses: readonly (new () => object)[];
}

/** Serves the document at /docs/openapi.json and the page at /docs. Both are made once, when they are first asked for. */
export function setUpOpenApi(app: NestExpressApplication): void {
  if (app.get(AppConfig).DOCS === 'off') return;
  guardDocs(app);
  let document: OpenAPIObject | undefined;
  const create = (): OpenAPIObject => {
    const { PUBLIC_URL: publicUrl } = app.get(AppConfig);
    const providers = app.get(ProviderRegistry, { strict: false }).all();
    return createDocument(app, { publicUrl, optionClasses: providers.map((provider) => provider.optionsClass) });
  };
  let text: Buffer | undefined;
  // SwaggerModule would serialise the document again for each request, although a client needs no key to ask for it.
  const express: Express = app.getHttpAdapter().getInstance();
  express.get('/docs/openapi.json', (_request, response) => {
    text ??= Buffer.from(JSON.stringify((document ??= create())));
    response.type('application/json').send(text);
  });
  SwaggerModule.setup('docs', app, () => (document ??= create()), { raw: false, customSiteTitle: 'Tollgate API' });
}

/** Reads the decorators of the controllers only, so an application in preview mode will do. */
export function createDocument(app: INestApplication, { publicUrl, optionClasses }: DocumentOptions): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, documentInfo(publicUrl), {
    extraModels: [...optionClasses],
    // A handler has the name of its operation.
    operationIdFactory: (_controller, handler) => handler,
  });
  const routes = routesByOperation(document, declaredRoutes(app));
  describeCallers(document, routes);
  describePathParameters(document);
  describeDeepObjects(document);
  describeProviderOptions(document, optionClasses);
  makeDefaultedParametersOptional(document);
  makeEmptyBodiesOptional(document);
  removeRulesOfParsedText(document);
  writeValidationRules(document, [...parameterClasses(controllerClasses(app)), ...optionClasses]);
  forbidAdditionalProperties(document, optionClasses);
  writeIntegerTypes(document);
  writeReadOnlyFields(document);
  writeBodyExamples(document);
  writeErrorResponses(document, routes);
  addMcpOperations(document);
  renameSchemas(document);
  return document;
}

/**
 * The handler of each operation, by its name. Handlers at several addresses share a name, and declare the same.
 * @throws Error for a name whose handlers declare different callers
 */
function routesByOperation(
  document: OpenAPIObject,
  routes: readonly DeclaredRoute[],
): ReadonlyMap<string, DeclaredRoute> {
  const shown = new Set(operationsOf(document).map(({ operationId }) => operationId));
  const found = new Map<string, DeclaredRoute>();
  for (const route of routes) {
    if (!shown.has(route.operationId)) continue;
    const known = found.get(route.operationId) ?? route;
    if (callersOf(known) !== callersOf(route)) throw new Error(`${known.name} and ${route.name} have the same name`);
    found.set(route.operationId, known);
  }
  return found;
}

function callersOf({ scope, isPublic, isForAnyCaller, isForKeysOnly }: DeclaredRoute): string {
  return JSON.stringify({ scope, isPublic, isForAnyCaller, isForKeysOnly });
}

/** Says which scope an operation needs. Without `security`, tools may read an operation as public or as protected. */
function describeCallers(document: OpenAPIObject, routes: ReadonlyMap<string, DeclaredRoute>): void {
  for (const operation of operationsOf(document)) {
    const { scope, isForAnyCaller = false } = routes.get(operation.operationId ?? '') ?? {};
    const open = isForAnyCaller ? 'Needs a key or a token, with any scopes.' : 'Needs no key.';
    const needs = scope === undefined ? open : `Needs the scope \`${scope}\`.`;
    operation.description = [operation.description, needs].filter(Boolean).join('\n\n');
    operation.security ??= [];
  }
}

/**
 * Lists the schemas of the providers for `config` of a new virtual key. The `config` of an update is merged, and any of its fields may
 * be null.
 */
function describeProviderOptions(document: OpenAPIObject, optionClasses: readonly { readonly name: string }[]): void {
  const schema = document.components?.schemas?.['CreateVirtualKeyDto'];
  const config = schema !== undefined && 'properties' in schema ? schema.properties?.['config'] : undefined;
  if (config === undefined || '$ref' in config) throw new Error('the document has no CreateVirtualKeyDto.config');
  // Some providers have the same options.
  const names = new Set(optionClasses.map(({ name }) => name));
  config.anyOf = [...names].map((name) => ({ $ref: getSchemaPath(name) }));
}
