import { type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';

/**
 * Like `context.switchToHttp().getRequest()`, which creates four objects on each call, in every guard of every request.
 */
export function requestOf(context: ExecutionContext): Request {
  return context.getArgByIndex<Request>(0);
}

export type Route = Pick<ExecutionContext, 'getClass' | 'getHandler'>;

/** Caches what a route declares. Reflection would walk through several maps on each request. */
export class RouteMetadataCache<Declared> {
  /** Keyed by controller first, since controllers may share a handler. */
  private readonly known = new WeakMap<object, Map<object, Declared>>();

  constructor(private readonly read: (route: Route) => Declared) {}

  of(route: Route): Declared {
    const controller = route.getClass();
    const handler = route.getHandler();
    let routes = this.known.get(controller);
    if (routes === undefined) this.known.set(controller, (routes = new Map()));
    let declared = routes.get(handler);
    if (declared === undefined) routes.set(handler, (declared = this.read(route)));
    return declared;
  }
}

export const STREAMED_BODY = 'tollgate:streamed-body';

/** The route forwards its body as a stream: the gateway neither parses nor limits it. */
export const StreamedBody = (): MethodDecorator => SetMetadata(STREAMED_BODY, true);

export const READ_MEMBERS = 'tollgate:read-members';

/**
 * The route forwards its JSON body as bytes. Only these members of its outermost object are read, into `request.body`; the rest may be
 * anything.
 */
export const ReadsMembers = (names: ReadonlySet<string>): MethodDecorator =>
  SetMetadata(READ_MEMBERS, new Set([...names, ...READ_EVERYWHERE]));

export const OCTETS_BODY = 'tollgate:octets-body';

/** The route takes its JSON body also as `application/octet-stream`, as clients of AWS send it. */
export const OctetsBody = (): MethodDecorator => SetMetadata(OCTETS_BODY, true);

/** Callers may name their organisation in any body. */
const READ_EVERYWHERE = ['organisation_id'];
