import { METHODS } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express } from 'express';
import { declaredRoutes } from '../../src/access/assert-routes-declared.js';

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
  /** Calls of providers. */
  readonly isForKeysOnly: boolean;
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
  return declaredRoutes(app).flatMap(({ name, scope, isForAnyCaller, isForKeysOnly, addresses }) => {
    if (addresses.length === 0) throw new Error(`${name} has no address`);
    return addresses.map((address) => ({ name, scope, isForAnyCaller, isForKeysOnly, ...address }));
  });
}

/** The path with a value instead of its parameters. */
export function fill(path: string, value: string): string {
  return path.replaceAll(/[:*]\w+/g, value);
}
