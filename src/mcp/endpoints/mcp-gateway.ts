import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { describeDefect } from '../../common/errors/describe-defect.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { CLIENT_CLOSED_REQUEST } from '../../common/http/client-closed-request.js';
import { JsonText } from '../../common/http/json-text.js';
import { BodyRefusedError, RequestAbortedError } from '../../common/http/read-body.js';
import { isDatabaseUnavailable } from '../../database/database-errors.js';
import { LOGGER, type Logger } from '../../telemetry/logger.js';
import { contextOf } from '../../telemetry/request-context.js';
import { McpCallLog } from '../calls/mcp-call-log.js';
import { noteMethod } from '../calls/request-facts.js';
import { rpcErrorText } from '../mcp-error.js';
import { McpProxy } from '../proxy/mcp-proxy.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import type { ServerAddress } from '../servers/mcp-server.directory.js';
import { addressOf, assertMethod, type McpEndpoint } from './mcp-address.js';
import { type Entered, McpEntry } from './mcp-entry.js';
import { rpcIdOf } from './mcp-message.js';
import { McpPassage } from './mcp-passage.js';
import type { Passage } from './mcp-passage.types.js';

/** The way of an MCP request, from the edge to the row in the log of calls. */
@Injectable()
export class McpGateway {
  constructor(
    private readonly entry: McpEntry,
    private readonly passage: McpPassage,
    private readonly calls: McpCallLog,
    private readonly proxy: McpProxy,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws GatewayError for what is refused before the server is called; the error filter answers it as JSON-RPC */
  async serve(request: Request, response: Response, endpoint: McpEndpoint): Promise<void> {
    // First, so that an address that cannot be a server's gets the 404 of every other unknown address.
    const address = addressOf(request);
    request.errorForm = (error) => new JsonText(rpcErrorText(error));
    if (request.method === 'GET') return this.enterAndPass(request, response, address, endpoint);
    const over = this.proxy.expectCall();
    try {
      await this.enterAndPass(request, response, address, endpoint);
    } finally {
      over();
    }
  }

  private async enterAndPass(
    request: Request,
    response: Response,
    address: ServerAddress,
    endpoint: McpEndpoint,
  ): Promise<void> {
    const arrival = this.entry.arrivalOf(request, address, endpoint);
    const mayPass = this.entry.passEdge(arrival, response);
    if (!(mayPass instanceof Promise ? await mayPass : mayPass)) return;
    assertMethod(request.method, endpoint);
    contextOf(request).assertTraceable();
    const entering = this.entry.enter(arrival);
    const entered = entering instanceof Promise ? await entering : entering;
    note(request, entered);
    const { server, identity, caller, headers, recheck } = entered;
    // Field by field: of an object that a spread began, V8 makes a new shape each time, and all that reads it is slow.
    await this.passThrough({
      server,
      identity,
      caller,
      headers,
      recheck,
      request,
      response,
      endpoint,
      body: undefined,
      message: undefined,
      denial: undefined,
    });
  }

  private async passThrough(passage: Passage): Promise<void> {
    const done = this.calls.begin(passage);
    try {
      const outcome = await this.passage.pass(passage);
      this.noteError(passage, outcome);
      done(outcome);
    } catch (error) {
      noteMethod(passage);
      done(endingOf(error, passage));
      passage.request.errorForm = (refusal) => new JsonText(rpcErrorText(refusal, rpcIdOf(passage.message)));
      throw error;
    }
  }

  private noteError({ request }: Passage, { error }: McpOutcome): void {
    const { facts, trace } = contextOf(request);
    facts.error_code = error?.code;
    facts.error_reason = error?.reason;
    if (error?.code !== 'internal_error') return;
    this.logger.error({ event: 'defect', trace_id: trace.traceId, error: describeDefect(error.cause) });
  }
}

/** Of a request that never reached its server. */
function endingOf(thrown: unknown, passage: Passage): Pick<McpOutcome, 'status' | 'error' | 'requestBytes'> {
  const requestBytes = sizeOf(passage, thrown);
  if (thrown instanceof RequestAbortedError) return { status: CLIENT_CLOSED_REQUEST, error: undefined, requestBytes };
  if (thrown instanceof GatewayError) return { status: thrown.status, error: thrown, requestBytes };
  const error = new GatewayError(isDatabaseUnavailable(thrown) ? 'store_unavailable' : 'internal_error');
  return { status: error.status, error, requestBytes };
}

/** Of the body: what came of it, or, where it was refused unread, what was announced. */
function sizeOf({ body, request }: Passage, thrown: unknown): number {
  if (body !== undefined) return body.length;
  if (thrown instanceof RequestAbortedError) return 0;
  return thrown instanceof BodyRefusedError ? thrown.readBytes : Number(request.headers['content-length'] ?? 0);
}

/** Tells the log who called, and what. */
function note(request: Request, { caller, server }: Entered): void {
  const context = contextOf(request);
  context.noteCaller(caller.principal);
  context.noteUse(server);
  context.facts.mcp_server = server.slug;
}
