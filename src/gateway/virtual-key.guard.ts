import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { type MaybePromise, chain } from '../common/maybe-promise.js';
import { gatewayHeader } from '../common/http/gateway-headers.js';
import { READ_MEMBERS, requestOf, type Route, RouteMetadataCache } from '../common/http/execution-context.js';
import { isObject, stringOrUndefined } from '../common/json/read.js';
import { withFirstMember, withMember } from '../common/json/scan.js';
import { contextOf } from '../telemetry/request-context.js';
import type { UsableVirtualKey } from '../virtual-keys/virtual-key.cache.js';
import { assertModelAllowed } from '../model-routes/model-access.js';
import { noteDestination, RequestOfRoute, setDestinationHeaders } from './routing/destination.js';
import { type ConfigTarget, PROVIDER_HEADER, slugIn, targetsOfConfig } from './routing/portkey-config.js';
import { type UsedRoute, VirtualKeyFinder } from './virtual-key.finder.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the virtual key guard on provider-style routes. */
    virtualKey?: UsableVirtualKey;
    /** Set by the virtual key guard when the request names a model. */
    modelNames?: ModelNames;
  }
}

/** The names of the model of a request. */
export interface ModelNames {
  readonly requested: string;
  /** The model route of that name, if it is one. */
  readonly route: UsedRoute | undefined;
  /** Whether the path names the model, not the body. */
  readonly isInPath: boolean;
}

const MODEL = 'model';

/** Finds the virtual key of a provider-style request. Runs after the global guards, which know the caller and have read the body. */
@Injectable()
export class VirtualKeyGuard implements CanActivate {
  private readonly forwarded: RouteMetadataCache<boolean>;

  constructor(
    private readonly finder: VirtualKeyFinder,
    reflector: Reflector,
  ) {
    this.forwarded = new RouteMetadataCache((route) => readsModel(reflector, route));
  }

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const { principal } = request;
    if (principal === undefined) throw new Error('the virtual key guard ran before the caller was known');
    const inPath = modelInPath(request);
    const named = inPath ?? namedModel(request.body);
    const slug = gatewayHeader(request.headers, 'virtual-key') ?? slugIn(request.headers[PROVIDER_HEADER]);
    const answer = context.getArgByIndex<Response>(1);
    const call = new RequestOfRoute(request, principal, named);
    const [first, ...others] = configOf(request, named);
    const destination =
      first === undefined
        ? this.finder.find(principal, slug, named, call)
        : this.finder.byConfig(principal, [first, ...others], named, call);
    return chain(destination, (found) => {
      const { virtualKey, model, route } = found;
      request.virtualKey = virtualKey;
      const known = contextOf(request);
      noteDestination(known, found);
      if (named !== undefined) known.noteRequestedModel(named);
      if (inPath !== undefined) request.body = { ...request.body, [MODEL]: model };
      else if (model !== undefined && named === undefined) addModel(request, model, this.forwarded.of(context));
      else if (model !== undefined && model !== named) rename(request, model);
      if (model !== undefined) {
        // A model that only a Portkey config names has a route, but was not named in the request.
        if (named !== undefined || route !== undefined)
          request.modelNames = { requested: named ?? model, route, isInPath: inPath !== undefined };
        assertModelAllowed(principal, virtualKey, model, route?.name);
      }
      setDestinationHeaders(answer, found);
      return true;
    });
  }
}

/** The targets that Portkey's clients send with a call. */
function configOf(request: Request, model: string | undefined): readonly ConfigTarget[] {
  const config = gatewayHeader(request.headers, 'config');
  return config === undefined ? [] : targetsOfConfig(config, { metadata: contextOf(request).metadata, model });
}

/** The model in a path: one segment, or several with the operation after the last colon. */
function modelInPath({ params }: Request): string | undefined {
  const named: unknown = params[MODEL];
  if (!Array.isArray(named)) return stringOrUndefined(named);
  // Google's client puts the part before a slash into the publisher.
  const slug = stringOrUndefined(params['publisher']);
  const path = [...(slug?.startsWith('@') ? [slug] : []), ...named].join('/');
  const colon = path.lastIndexOf(':');
  return colon < 0 ? path : path.slice(0, colon);
}

function namedModel(body: unknown): string | undefined {
  return isObject(body) ? stringOrUndefined(body[MODEL]) : undefined;
}

/** Whether the route reads the model in its body, whose bytes are forwarded. */
function readsModel(reflector: Reflector, route: Route): boolean {
  return reflector.get<ReadonlySet<string> | undefined>(READ_MEMBERS, route.getHandler())?.has(MODEL) === true;
}

/**
 * Adds the model that a config names to the body of a request.
 * @param isForwarded whether the provider gets the bytes of the body
 */
function addModel(request: Request, model: string, isForwarded: boolean): void {
  request.body = { ...request.body, [MODEL]: model };
  if (!isForwarded || request.rawBody === undefined) return;
  contextOf(request).noteSentBody(request.rawBody);
  request.rawBody = withFirstMember(request.rawBody, MODEL, model);
}

/** Replaces the model by the provider's own name of it. */
function rename(request: Request, model: string): void {
  request.body = { ...request.body, [MODEL]: model };
  contextOf(request).noteSentBody(request.rawBody);
  if (request.rawBody !== undefined) request.rawBody = withMember(request.rawBody, MODEL, model);
}
