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

/** One request to a running server: what the objects were before Express had them, and the answer. */
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

describe('LinkedExpressAdapter', () => {
  it("makes requests and responses whose prototypes are Express's own, so that setting them changes nothing", async () => {
    const { linked } = await ask(new LinkedExpressAdapter());
    expect(linked).toEqual({ request: true, response: true });
  });

  it('leaves the methods of Express in place', async () => {
    const { answer } = await ask(new LinkedExpressAdapter());
    expect(answer).toEqual({ ip: '127.0.0.1', json: 'function', type: 'read' });
  });

  it('is needed: the stock adapter makes others', async () => {
    const { linked } = await ask(new ExpressAdapter());
    expect(linked).toEqual({ request: false, response: false });
  });
});
