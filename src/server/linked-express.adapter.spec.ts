import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Controller, Get, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { describe, expect, it } from '@jest/globals';
import type { Express, Request, Response } from 'express';
import { LinkedExpressAdapter } from './linked-express.adapter.js';

interface Linked {
  /** Whether the object's prototype was Express's own as soon as the server had made it. */
  readonly request: boolean;
  readonly response: boolean;
}

@Controller('linked')
class LinkedController {
  @Get()
  show(@Req() request: Request, @Res({ passthrough: true }) response: Response): object {
    return { ip: request.ip, json: typeof response.json, type: request.get('x-test') };
  }
}

@Module({ controllers: [LinkedController] })
class LinkedModule {}

/** One request to a running server: the objects before Express changed them, and the answer. */
async function ask(adapter: ExpressAdapter): Promise<{ readonly linked: Linked; readonly answer: unknown }> {
  const app = await NestFactory.create<NestExpressApplication>(LinkedModule, adapter, { logger: false });
  try {
    const express: Express = adapter.getInstance();
    let linked: Linked = { request: false, response: false };
    app.getHttpServer().prependListener('request', (request: object, response: object) => {
      linked = {
        request: Object.getPrototypeOf(request) === express.request,
        response: Object.getPrototypeOf(response) === express.response,
      };
    });
    await app.listen(0, '127.0.0.1');
    const answer = await fetch(`${await app.getUrl()}/linked`, { headers: { 'x-test': 'read' } });
    return { linked, answer: await answer.json() };
  } finally {
    await app.close();
  }
}

function newResponse(): ServerResponse {
  return new ServerResponse(Object.assign(new IncomingMessage(new Socket()), { url: '/', method: 'GET' }));
}

/** The server of an application with one middleware that records its requests. */
function serverOf(seen: string[]): Server {
  const adapter = new LinkedExpressAdapter();
  adapter.use((_request: Request, response: Response) => {
    seen.push('begun');
    response.on('close', () => seen.push('closed'));
  });
  adapter.initHttpServer();
  return adapter.getHttpServer();
}

describe('the start of a request', () => {
  function arrive(server: Server, response: ServerResponse): void {
    server.emit('request', response.req, response);
  }

  it('starts a request at the end of its turn, together with the others of the turn', async () => {
    const seen: string[] = [];
    const server = serverOf(seen);
    for (const response of [newResponse(), newResponse()]) arrive(server, response);
    await Promise.resolve();
    expect(seen).toEqual([]);
    await turn();
    expect(seen).toEqual(['begun', 'begun']);
  });

  it('records when a request arrived, not when it started', async () => {
    const adapter = new LinkedExpressAdapter();
    const waits: number[] = [];
    adapter.use(({ arrivedAt = Number.NaN }: Request, response: Response) => {
      waits.push(performance.now() - arrivedAt);
      response.end();
    });
    adapter.initHttpServer();
    const server: Server = adapter.getHttpServer();
    server.prependListener('request', () => {
      const end = performance.now() + 20;
      while (performance.now() < end);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    await (await fetch(`http://127.0.0.1:${Object(server.address()).port}/`)).text();
    server.close();
    server.closeAllConnections();
    expect(waits).toEqual([expect.any(Number)]);
    expect(waits[0]).toBeGreaterThanOrEqual(20);
  });

  it('emits close on a request whose client disconnected before the start', async () => {
    const seen: string[] = [];
    const server = serverOf(seen);
    const response = newResponse();
    arrive(server, response);
    response.destroy();
    response.emit('close');
    await turn();
    expect(seen).toEqual(['begun', 'closed']);
  });
});

describe('LinkedExpressAdapter', () => {
  it("makes requests and responses whose prototypes are Express's own, so that setting them changes nothing", async () => {
    const { linked } = await ask(new LinkedExpressAdapter());
    expect(linked).toEqual({ request: true, response: true });
  });

  it('keeps the methods of Express on requests and responses', async () => {
    const { answer } = await ask(new LinkedExpressAdapter());
    expect(answer).toEqual({ ip: '127.0.0.1', json: 'function', type: 'read' });
  });

  it('differs from the stock adapter, whose objects have other prototypes', async () => {
    const { linked } = await ask(new ExpressAdapter());
    expect(linked).toEqual({ request: false, response: false });
  });
});
