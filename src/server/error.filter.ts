import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { describeDefect } from '../common/errors/describe-error.js';
import { ERROR_CODES } from '../common/errors/error-codes.js';
import { toErrorEnvelope } from '../common/errors/error-envelope.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { afterBody, breakOffAfter } from '../common/http/closing-answers.js';
import { errorFormOf, errorHeadersOf } from '../inference/error-forms.js';
import type { LinkedExpressAdapter } from './linked-express.adapter.js';
import { isOfApi, type OfferedRoute, offeredInstead } from './offered-operations.js';
import { RequestAbortedError } from '../common/http/read-body.js';
import { isDatabaseUnavailable, unavailableReason } from '../database/database-errors.js';
import { RedisFailedError } from '../redis/redis-connection.js';
import type { Logger } from '../telemetry/logger.js';
import type { RequestContext } from '../telemetry/request-context.js';
import type { StoreFailures } from '../telemetry/store-failures.js';
import { UpstreamFailure } from '../upstream/upstream.types.js';
import { isWorkspaceGone, unknownWorkspace } from '../workspaces/workspace.errors.js';

const NOT_OFFERED = ERROR_CODES.operation_not_offered.message;

/** Turns everything that is thrown into an error response. */
@Catch()
export class AppErrorFilter implements ExceptionFilter {
  constructor(
    private readonly adapter: LinkedExpressAdapter,
    private readonly logger: Logger,
    private readonly storeFailures: StoreFailures,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<Request>();
    const response = host.switchToHttp().getResponse<Response>();
    if (isCallerGone(thrown) || request.context?.caller.aborted === true) return void response.destroy();
    const error = this.toGatewayError(thrown, request);
    this.note(error, request.context);
    if (error.code === 'store_unavailable' && error.cause !== undefined) {
      if (error.cause instanceof RedisFailedError) this.storeFailures.log(error.cause);
      else this.storeFailures.note(error.cause);
    }
    if (response.headersSent || response.destroyed) return endBegun(error, request, response);
    const headers = { ...error.headers, ...errorHeadersOf(request, error) };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const body = (request.errorForm ?? errorFormOf(request) ?? toErrorEnvelope)(error);
    afterBody(request, response, () => void this.adapter.reply(response, body, error.status));
  }

  private toGatewayError(thrown: unknown, request: Request): GatewayError {
    if (thrown instanceof GatewayError) return thrown;
    if (isDatabaseUnavailable(thrown))
      return new GatewayError('store_unavailable', { cause: thrown, reason: unavailableReason(thrown) });
    if (isWorkspaceGone(thrown)) return unknownWorkspace(thrown);
    if (thrown instanceof HttpException && thrown.getStatus() === 404) return this.unknownRoute(request);
    if (thrown instanceof URIError || (thrown instanceof HttpException && thrown.getStatus() === 400)) {
      return new GatewayError('validation_failed', {
        message: 'The address of the request is not valid.',
        cause: thrown,
      });
    }
    return new GatewayError('internal_error', { cause: thrown });
  }

  private unknownRoute(request: Request): GatewayError {
    const offered = this.adapter.offered();
    if (asksForWebSocket(request, offered))
      return new GatewayError('upgrade_not_offered', { headers: { upgrade: 'HTTP/1.1' } });
    const methods = this.adapter.methodsOf(request.path);
    if (methods.length === 0) {
      const instead = offeredInstead(request.path, offered);
      if (instead === undefined) return new GatewayError('not_found', { message: 'There is nothing at this address.' });
      return new GatewayError('operation_not_offered', { message: `${NOT_OFFERED} ${instead}` });
    }
    return new GatewayError('method_not_allowed', { headers: { allow: methods.join(', ') } });
  }

  private note(error: GatewayError, context: RequestContext | undefined): void {
    if (context) {
      context.facts.error_code = error.code;
      context.facts.error_reason = error.reason;
    }
    if (error.code !== 'internal_error') return;
    this.logger.error({ event: 'defect', trace_id: context?.trace.traceId, error: describeDefect(error.cause) });
  }
}

/**
 * A response that has begun cannot become an error response. An open event stream gets an error event. Then the connection is
 * cut, so that the client notices.
 */
function endBegun(error: GatewayError, { errorEvent }: Request, response: Response): void {
  if (errorEvent === undefined || response.destroyed) response.destroy();
  else breakOffAfter(response, errorEvent(error));
}

/** Some clients turn to HTTP when they read that there is none. */
function asksForWebSocket(
  { path, headers }: Pick<Request, 'path' | 'headers'>,
  offered: readonly OfferedRoute[],
): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && isOfApi(path, offered);
}

function isCallerGone(thrown: unknown): boolean {
  return thrown instanceof RequestAbortedError || (thrown instanceof UpstreamFailure && thrown.kind === 'caller_gone');
}
