import { METHODS } from 'node:http';
import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { controllerClasses, declaredRoutes } from '../../src/access/assert-routes-declared.js';

/** An address as the router knows it. */
export interface Address {
  readonly method: string;
  /** With its parameters: `/v1/workspaces/:ref`. */
  readonly path: string;
}

/** A controller's handler: its address and its required scope. */
export interface Route extends Address {
  readonly name: string;
  /** undefined: public, or for any caller. */
  readonly scope: string | undefined;
  readonly isForAnyCaller: boolean;
}

/** All routes of the running application, including those of the framework. */
export function addressesOf(app: NestExpressApplication): readonly Address[] {
  const express: Express = app.getHttpAdapter().getInstance();
  return express.router.stack.flatMap(({ route }) => {
    if (route === undefined) return [];
    const path = String(route.path);
    const methods = route.stack.map(({ method }) => method.toUpperCase());
    return isAll(methods) ? [{ method: 'ALL', path }] : methods.map((method) => ({ method, path }));
  });
}

function isAll(methods: readonly string[]): boolean {
  return METHODS.every((method) => methods.includes(method));
}

/** The routes that the controllers declare. */
export function routesOf(app: NestExpressApplication): readonly Route[] {
  const handlers = controllerClasses(app).flatMap(handlersOf);
  return declaredRoutes(app).flatMap(({ name, scope, isForAnyCaller }) => {
    const addresses = handlers.filter((handler) => handler.name === name);
    if (addresses.length === 0) throw new Error(`${name} has no address`);
    return addresses.map(({ method, path }) => ({ name, scope, isForAnyCaller, method, path }));
  });
}

/** The path with a value instead of its parameters. */
export function fill(path: string, value: string): string {
  return path.replaceAll(/[:*]\w+/g, value);
}

function handlersOf(controller: Type): readonly (Address & { readonly name: string })[] {
  const prototype: object = controller.prototype;
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler: unknown = Reflect.get(prototype, name);
    if (typeof handler !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
    const method = RequestMethod[Number(Reflect.getMetadata(METHOD_METADATA, handler))] ?? '';
    const own = textsOf(PATH_METADATA, handler);
    // A controller may have several addresses, which apply to all of its handlers.
    return textsOf(PATH_METADATA, controller).flatMap((base) =>
      own.map((path) => ({ name: `${controller.name}.${name}`, method, path: joined(base, path) })),
    );
  });
}

function joined(...paths: readonly string[]): string {
  return `/${paths.flatMap((path) => path.split('/').filter(Boolean)).join('/')}`;
}

function textsOf(key: string, target: object): readonly string[] {
  const value: unknown = Reflect.getMetadata(key, target);
  const texts: readonly unknown[] = Array.isArray(value) ? Array.from(value) : [value];
  return texts.map((text) => (typeof text === 'string' ? text : ''));
}
