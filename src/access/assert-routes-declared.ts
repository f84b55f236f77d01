import { type INestApplication, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { ANY_CALLER, API_KEY_ONLY, REQUIRED_SCOPE, PUBLIC_ROUTE } from './route-access.decorators.js';

/** A method and a path in the syntax of path-to-regexp. */
export interface RouteAddress {
  readonly method: string;
  readonly path: string;
}

/** A handler of a controller, with what it declares about its callers. */
export interface DeclaredRoute {
  readonly name: string;
  /** Name of the handler, which is the operationId of the OpenAPI document. */
  readonly operationId: string;
  /** Carries the metadata that decorators set. */
  readonly handler: object;
  readonly scope: string | undefined;
  readonly isPublic: boolean;
  /** Needs a key or a token, and no scope. */
  readonly isForAnyCaller: boolean;
  readonly isForKeysOnly: boolean;
  readonly addresses: readonly RouteAddress[];
}

/** Stops the start when a route says neither which scope it needs nor that it is public. */
export function assertRoutesDeclared(app: INestApplication): void {
  const undeclared = declaredRoutes(app).filter(
    (route) => route.scope === undefined && !route.isPublic && !route.isForAnyCaller,
  );
  if (undeclared.length === 0) return;
  throw new Error(
    `routes without @RequireScope(), @AnyCaller() or @Public(): ${undeclared.map((route) => route.name).join(', ')}`,
  );
}

export function declaredRoutes(app: INestApplication): readonly DeclaredRoute[] {
  return controllerClasses(app).flatMap(routesOf);
}

export function controllerClasses(app: INestApplication): readonly Type[] {
  const modules = [...app.get(ModulesContainer).values()];
  const controllers = modules.flatMap((module) => [...module.controllers.values()].map((wrapper) => wrapper.metatype));
  return controllers.filter((controller) => isClass(controller));
}

function routesOf(controller: Type): readonly DeclaredRoute[] {
  const prototype: object = controller.prototype;
  const isPublicClass = Reflect.hasMetadata(PUBLIC_ROUTE, controller);
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler: unknown = Reflect.get(prototype, name);
    if (typeof handler !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
    const scope: unknown = Reflect.getMetadata(REQUIRED_SCOPE, handler);
    return {
      name: `${controller.name}.${name}`,
      operationId: name,
      handler,
      scope: typeof scope === 'string' ? scope : undefined,
      isPublic: isPublicClass || Reflect.hasMetadata(PUBLIC_ROUTE, handler),
      isForAnyCaller: Reflect.hasMetadata(ANY_CALLER, handler),
      isForKeysOnly: Reflect.hasMetadata(API_KEY_ONLY, handler),
      addresses: addressesOf(controller, handler),
    };
  });
}

/** A controller may have several paths, which apply to all of its handlers. */
function addressesOf(controller: Type, handler: object): readonly RouteAddress[] {
  const method = RequestMethod[Number(Reflect.getMetadata(METHOD_METADATA, handler))] ?? '';
  const own = textsOf(PATH_METADATA, handler);
  return textsOf(PATH_METADATA, controller).flatMap((base) =>
    own.map((path) => ({ method, path: joined(base, path) })),
  );
}

function joined(...paths: readonly string[]): string {
  return `/${paths.flatMap((path) => path.split('/').filter(Boolean)).join('/')}`;
}

function textsOf(key: string, target: object): readonly string[] {
  const value: unknown = Reflect.getMetadata(key, target);
  const texts: readonly unknown[] = Array.isArray(value) ? Array.from(value) : [value];
  return texts.map((text) => (typeof text === 'string' ? text : ''));
}

function isClass(value: unknown): value is Type {
  return typeof value === 'function';
}
