import { describe, expect, it } from '@jest/globals';
import express, { type NextFunction, type Request, type Response } from 'express';
import fc from 'fast-check';
import { RouteIndex } from './route-index.js';

const PATHS = [
  '/v1/rerank',
  '/v1/keys',
  '/v1/keys/:id',
  '/v1/keys/:id/rotate',
  '/v1/:kind/test',
  '/v1',
  '/docs',
  '/docs/openapi.json',
  '/files/*path',
  '/opt{/:name}',
  '/.well-known/jwks.json',
  '/:server/mcp',
  '/:workspace/:server/mcp',
  '/',
];
const SEGMENTS = [
  'v1',
  'V1',
  'rerank',
  'keys',
  'Keys',
  'docs',
  'openapi.json',
  'files',
  'opt',
  '.well-known',
  'jwks.json',
  'mcp',
];

/** An app that records which handlers a request has reached. */
function build(): { readonly app: express.Express; readonly met: string[] } {
  const app = express();
  const met: string[] = [];
  const note = (name: string) => (_request: Request, _response: Response, next: NextFunction) => {
    met.push(name);
    next();
  };
  app.use(note('first'));
  PATHS.forEach((path, at) => {
    app.get(path, note(path));
    if (at === PATHS.length / 2) app.use('/v1', note('between'));
  });
  app.use(note('last'));
  return { app, met };
}

const { app, met } = build();
const index = new RouteIndex(app.router.stack);

async function metBy(handle: express.RequestHandler, url: string): Promise<readonly string[]> {
  met.length = 0;
  const request = Object.assign(Object.create(express.request), { method: 'GET', url });
  await new Promise<void>((done) => {
    void handle(request, Object.create(express.response), () => done());
  });
  return [...met];
}

describe('RouteIndex', () => {
  it.each([
    ['/v1/rerank', ['first', '/v1/rerank', 'between', 'last']],
    ['/V1/Keys/7/?a=/v1/rerank', ['first', '/v1/keys/:id', 'between', 'last']],
    ['/tools/mcp', ['first', '/:server/mcp', 'last']],
    ['/v1/mcp', ['first', 'between', '/:server/mcp', 'last']],
    ['/opt', ['first', '/opt{/:name}', 'last']],
    ['/nothing/here', ['first', 'last']],
    ['/?/v1/rerank', ['first', '/', 'last']],
  ])('tries the matching layers for %s in order', async (url, expected) => {
    expect(await metBy(index.routerFor(url), url)).toEqual(expected);
  });

  it('finds the same routes as Express for any path', async () => {
    const segment = fc.oneof(fc.constantFrom(...SEGMENTS), fc.constantFrom('', 'x', '%76%31', 'rerank%2F', '..', 'ké'));
    const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
    const tail = fc.constantFrom('', '/', '?q=1', '?/v1/keys', '/?x', '#a', '#/v1');
    const origin = fc.constantFrom('', '', '', 'http://host.example');
    await fc.assert(
      fc.asyncProperty(origin, path, tail, async (...parts) => {
        const url = parts.join('');
        expect(await metBy(index.routerFor(url), url)).toEqual(await metBy(app.router, url));
      }),
      { numRuns: 2_000 },
    );
  });

  it('tries only few routes per request', () => {
    const stackOf = (url: string): number => {
      const router = index.routerFor(url);
      return 'stack' in router && Array.isArray(router.stack) ? router.stack.length : 0;
    };
    const all = app.router.stack.length;
    expect(stackOf('http://host/v1/rerank')).toBe(all);
    expect(stackOf('/tools/mcp')).toBeLessThan(all / 2);
    expect(stackOf('/docs')).toBeLessThan(all / 2);
  });
});
