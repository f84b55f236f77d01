import {
  applyDecorators,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  Res,
  type Type,
} from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExcludeController,
  ApiExtraModels,
  type ApiHeaderOptions,
  ApiHeaders,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { MayFail } from '../../common/errors/may-fail.decorator.js';
import { StreamedBody } from '../../common/http/execution-context.js';
import { CurrentProvider, type ProviderContext } from '../provider-context.decorator.js';
import { MeteredByBound, ProviderRoute } from '../provider-route.decorator.js';
import type { ResourceArea } from './resource-area.js';
import { hasJsonBody, mayStreamEvents, methodOf, type RelayRoute } from './relay-route.js';
import { relayQueryOf } from './relay-query.js';
import { RelayService } from './relay.service.js';

const ANY = { 'application/json': { schema: { type: 'object', additionalProperties: true } } } as const;
const BYTES = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } as const;
const EVENTS = { 'text/event-stream': { schema: { type: 'string' } } } as const;
const UPLOAD = {
  type: 'object',
  properties: {
    file: { type: 'string', format: 'binary', description: 'The content of the file.' },
    purpose: { type: 'string', description: 'What the file is for.', example: 'batch' },
  },
  required: ['file', 'purpose'],
  additionalProperties: true,
};

const METHODS = { GET: Get, POST: Post, DELETE: Delete } as const;

/** Creates the controller of a resource area from its table: one handler per row. */
export function relayController(area: ResourceArea): Type {
  @ApiTags(area.tag)
  @Controller('v1')
  class RelayController {
    constructor(readonly relay: RelayService) {
      relay.offer(area);
    }
  }
  return withHandlers(RelayController, area, 'Controller');
}

/** A controller of the same calls at other addresses, for clients whose address has no version, or names the API. */
export function relayControllerElsewhere(area: ResourceArea, prefixes: string[]): Type {
  @ApiExcludeController()
  @Controller(prefixes)
  class RelayController {
    constructor(readonly relay: RelayService) {}
  }
  return withHandlers(RelayController, area, 'ElsewhereController');
}

function withHandlers(controller: Type<{ readonly relay: RelayService }>, area: ResourceArea, nameEnd: string): Type {
  // The name appears in the log of the start.
  Object.defineProperty(controller, 'name', { value: `${area.tag.replace(/\W/g, '')}${nameEnd}` });
  for (const route of area.routes) addHandler(controller, area, route);
  return controller;
}

function addHandler(controller: Type<{ readonly relay: RelayService }>, area: ResourceArea, route: RelayRoute): void {
  const prototype: { readonly relay: RelayService } = controller.prototype;
  const name = route.operationId;
  const handler = function (
    this: { readonly relay: RelayService },
    context: ProviderContext,
    params: Readonly<Record<string, string>>,
    query: object,
    request: Request,
    response: Response,
  ): Promise<void> {
    return this.relay.run({ area, route, context, params, query, request, response });
  };
  // The OpenAPI document uses the name of the function to find its parameters and as operationId.
  Object.defineProperty(handler, 'name', { value: name });
  const descriptor = { value: handler, configurable: true };
  Object.defineProperty(prototype, name, descriptor);
  // The metadata that the compiler writes for such a method: the validation pipe reads the query's class from it.
  Reflect.defineMetadata('design:paramtypes', [Object, Object, relayQueryOf(route), Object, Object], prototype, name);
  for (const [index, decorate] of [CurrentProvider(), Param(), Query(), Req(), Res()].entries())
    decorate(prototype, name, index);
  decoratorsOf(area, route)(prototype, name, descriptor);
}

function decoratorsOf({ headers = [] }: ResourceArea, route: RelayRoute): MethodDecorator {
  const parameters = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => parameter);
  return applyDecorators(
    METHODS[methodOf(route)](route.path.replaceAll(/\{(\w+)\}/g, ':$1')),
    HttpCode(200),
    ProviderRoute(route.scope),
    ...(route.spends === true ? [MayFail('usage_limit_exceeded', 'usage_limit_unreadable')] : []),
    ...(route.startsJob === true || route.continuesJob === true ? [MeteredByBound()] : []),
    ApiOperation({ summary: route.summary }),
    ApiHeaders([...headers, ...headersOf(route)]),
    ...parameters.map((parameter) => ApiParam({ name: parameter, type: String })),
    ...bodyDecorators(route),
    answerDecorator(route),
  );
}

function headersOf(route: RelayRoute): readonly ApiHeaderOptions[] {
  if (route.kind === 'download') {
    return [
      { name: 'Range', required: false, description: 'The part of the file to download.', example: 'bytes=0-1023' },
    ];
  }
  if (methodOf(route) !== 'POST') return [];
  const description = 'Sent on to the provider, which makes a change with the same key once, if it supports that.';
  return [{ name: 'Idempotency-Key', required: false, description, schema: { type: 'string', maxLength: 255 } }];
}

/** A response without a documented format is forwarded unchanged, for every provider. */
function answerDecorator(route: RelayRoute): MethodDecorator {
  const { response } = route;
  if (route.kind === 'download') return ApiOkResponse({ description: 'The bytes of the file.', content: BYTES });
  if (response === undefined) {
    const content = mayStreamEvents(route) ? { ...ANY, ...EVENTS } : ANY;
    return ApiOkResponse({ description: "The provider's response, unchanged.", content });
  }
  if (!mayStreamEvents(route)) return ApiOkResponse({ type: response });
  const schema = { $ref: getSchemaPath(response) };
  const content = { 'application/json': { schema }, ...EVENTS };
  return applyDecorators(
    ApiExtraModels(response),
    ApiOkResponse({ description: 'The object, or its events when the body has `stream`.', content }),
  );
}

function bodyDecorators(route: RelayRoute): readonly MethodDecorator[] {
  if (route.kind === 'upload') return [StreamedBody(), ApiConsumes('multipart/form-data'), ApiBody({ schema: UPLOAD })];
  if (!hasJsonBody(route)) return [];
  const description = "The provider's request, forwarded unchanged.";
  return [ApiBody({ schema: { type: 'object', additionalProperties: true, description } })];
}
