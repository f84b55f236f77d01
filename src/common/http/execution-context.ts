import { type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';

/** As `context.switchToHttp().getRequest()`, which makes four objects each time: every guard of every request would. */
export function requestOf(context: ExecutionContext): Request {
  return context.getArgByIndex<Request>(0);
}

export type Route = Pick<ExecutionContext, 'getClass' | 'getHandler'>;

/** What a route declares, read once: reflection walks through several maps, for every request and every question. */
export class RouteMetadataCache<Declared> {
  /** By controller, since controllers may share a handler. */
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

/** The route takes its body as a stream: the gateway neither reads nor bounds it. */
export const StreamedBody = (): MethodDecorator => SetMetadata(STREAMED_BODY, true);
