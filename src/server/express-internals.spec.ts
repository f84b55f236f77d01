import { describe, expect, it } from '@jest/globals';
import express, { type Express } from 'express';

/**
 * A canary for upgrades of Express: `LinkedExpressAdapter` and `RouteIndex` use these parts, which are not in its types or its
 * documentation. See docs/decisions/0030-express-with-linked-prototypes.md.
 */
describe('internals of Express that the server relies on', () => {
  const appWithRoute = (): Express => express().get('/v1/things/:id', (_request, response) => void response.end());

  it('keeps the prototypes of requests and responses as own, replaceable properties of the application', () => {
    const app = express();
    for (const name of ['request', 'response']) {
      expect(Object.getOwnPropertyDescriptor(app, name)).toMatchObject({ writable: true, value: expect.anything() });
    }
    expect(Object.getPrototypeOf(app.request)).toBe(express.request);
    expect(Object.getPrototypeOf(app.response)).toBe(express.response);
  });

  it('sets the prototype of a request from the application, at each request', () => {
    const app = express();
    const replaced = Object.create(app.request);
    Object.assign(app, { request: replaced });
    const request = Object.assign(Object.create(null), { url: '/', method: 'GET', headers: {} });
    const response = { setHeader: () => undefined, on: () => undefined, locals: {} };
    let seen: unknown;
    app.use((given) => {
      seen = Object.getPrototypeOf(given);
    });
    Reflect.apply(app, undefined, [request, response]);
    expect(seen).toBe(replaced);
  });

  it('lists its layers in order in router.stack, each route with its path and its methods', () => {
    const [layer] = appWithRoute().router.stack;
    expect(layer?.route?.path).toBe('/v1/things/:id');
    expect(layer?.route?.stack.map(({ method }) => method)).toEqual(['get']);
  });

  it('reports by layer.match whether a path matches a layer', () => {
    const [layer] = appWithRoute().router.stack;
    const match: unknown = layer && Reflect.get(layer, 'match');
    expect(typeof match).toBe('function');
    const matches = (path: string): boolean => typeof match === 'function' && Boolean(match.call(layer, path));
    expect([matches('/v1/things/1'), matches('/v1/other')]).toEqual([true, false]);
  });

  it('handles each request through router.handle, which can be replaced', () => {
    const app = appWithRoute();
    const handled: string[] = [];
    Object.assign(app.router, { handle: ({ url }: { readonly url: string }) => void handled.push(url) });
    const response = { setHeader: () => undefined, on: () => undefined, locals: {} };
    Reflect.apply(app, undefined, [{ url: '/v1/things/1', method: 'GET', headers: {} }, response]);
    expect(handled).toEqual(['/v1/things/1']);
  });

  it('routes by layers that were pushed into the stack of another router', () => {
    const router = express.Router();
    router.stack.push(...appWithRoute().router.stack);
    let ended = false;
    const response = { end: () => (ended = true) };
    Reflect.apply(router, undefined, [{ url: '/v1/things/1', method: 'GET' }, response, () => undefined]);
    expect(ended).toBe(true);
  });
});
