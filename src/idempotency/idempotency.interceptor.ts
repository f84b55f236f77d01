import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { catchError, from, mergeMap, of, type Observable } from 'rxjs';
import { invalidField } from '../common/errors/gateway.error.js';
import { describeDefect } from '../common/errors/describe-error.js';
import { requestOf } from '../common/http/execution-context.js';
import { isObject } from '../common/json/read.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { HEADER, IdempotencyStore, keyedCall, type KeyedCall } from './idempotency.store.js';

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** Returns the stored answer for a repeated create. Only answers of successful creates are stored. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly store: IdempotencyStore,
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = requestOf(context);
    const { principal } = request;
    const key = request.headers['idempotency-key'];
    if (key === undefined || principal === undefined) return next.handle();
    if (typeof key !== 'string' || !KEY.test(key)) throw invalidField(HEADER, 'must be 1 to 255 printable characters');
    const call = keyedCall(principal, key, `${request.method} ${request.path}`, request.body);
    const response = context.switchToHttp().getResponse<Response>();
    const known = await this.store.answerOf(call);
    if (known !== undefined) return of(replayed(response, known));
    await this.store.assertRoom(call);
    request.principal = { ...principal, onCreate: (manager, id) => this.store.take(manager, call, id) };
    return next.handle().pipe(
      mergeMap((answer: unknown) => this.kept(call, answer)),
      // Of two requests at the same time, the database refuses the second one.
      catchError((error: unknown) => from(this.answerInstead(call, response, error))),
    );
  }

  private async kept(call: KeyedCall, answer: unknown): Promise<unknown> {
    if (!isObject(answer)) return answer;
    await this.store.keep(call, answer).catch((cause: unknown) => {
      this.logger.warn({ event: 'idempotent_answer_not_kept', error: describeDefect(cause) });
    });
    return answer;
  }

  private async answerInstead(call: KeyedCall, response: Response, error: unknown): Promise<unknown> {
    const known = await this.store.answerOf(call);
    if (known === undefined) throw error;
    return replayed(response, known);
  }
}

function replayed(response: Response, answer: object): object {
  response.setHeader('idempotent-replayed', 'true');
  return answer;
}
