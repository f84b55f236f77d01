import express, { type Express, type RequestHandler } from 'express';

type Layer = Express['router']['stack'][number];

/** A literal segment of a route's path, in the syntax of path-to-regexp. */
const LITERAL = /^[^:*?{}()[\]+!\\]+$/;
/** The number of indexed segments: nearly all routes begin with a version and a resource. */
const DEPTH = 2;
const SEPARATOR = '/';

/**
 * Finds the routes that may match a path by its first two segments. Express tries one route after the other, which for
 * the last of a hundred costs more than handling the request.
 */
export class RouteIndex {
  readonly #routers = new Map<string, RequestHandler>();
  readonly #rest: RequestHandler;
  readonly #all: RequestHandler;

  /** @param layers in their order, which each router of the index keeps */
  constructor(layers: readonly Layer[]) {
    const known = layers.map((layer) => ({ layer, literals: literalsOf(layer) }));
    const routerFor = (segments: readonly string[]): RequestHandler =>
      routerOf(known.filter(({ literals }) => mayMatch(literals, segments)).map(({ layer }) => layer));
    this.#all = routerOf(layers);
    this.#rest = routerFor([]);
    for (const { literals } of known) {
      for (let depth = 1; depth <= literals.length; depth += 1) {
        const segments = literals.slice(0, depth);
        const key = segments.join(SEPARATOR);
        if (!this.#routers.has(key)) this.#routers.set(key, routerFor(segments));
      }
    }
  }

  /** The router for a request's target. Targets in another form than a path try all routes. */
  routerFor(url: string): RequestHandler {
    if (!url.startsWith(SEPARATOR) || url.includes('#')) return this.#all;
    const first = endOfSegment(url, 1);
    const second = url[first] === SEPARATOR ? endOfSegment(url, first + 1) : first;
    const both = this.#find(url, second);
    return both ?? (second === first ? undefined : this.#find(url, first)) ?? this.#rest;
  }

  /** Express ignores case. */
  #find(url: string, end: number): RequestHandler | undefined {
    const key = url.slice(1, end);
    return this.#routers.get(key) ?? this.#routers.get(key.toLowerCase());
  }
}

/** Whether a route may match a path that begins with these segments and continues with none that the index knows. */
function mayMatch(literals: readonly string[], segments: readonly string[]): boolean {
  return literals.every((literal, at) => literal === segments[at]);
}

/**
 * Literal leading segments of a route's path, in lower case. Empty for other layers, such as middleware: they are tried
 * for every request.
 */
function literalsOf({ route }: Layer): readonly string[] {
  const path: unknown = route?.path;
  if (typeof path !== 'string' || !path.startsWith(SEPARATOR)) return [];
  const segments = path
    .toLowerCase()
    .split(SEPARATOR)
    .slice(1, DEPTH + 1);
  const end = segments.findIndex((segment) => !LITERAL.test(segment));
  return end < 0 ? segments : segments.slice(0, end);
}

function routerOf(layers: readonly Layer[]): RequestHandler {
  const router = express.Router();
  router.stack.push(...layers);
  return router;
}

function endOfSegment(url: string, from: number): number {
  for (let at = from; at < url.length; at += 1) {
    const character = url[at];
    if (character === SEPARATOR || character === '?') return at;
  }
  return url.length;
}
