import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { isObject } from '../json/read.js';
import { toCsv } from './csv.js';

const TYPES = ['application/json', 'text/csv'];

/** Answers a list as a table when the caller prefers `text/csv` to JSON. One page, as in JSON: `x-total-count` counts all rows. */
@Injectable()
export class CsvInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (request.method !== 'GET' || request.accepts(TYPES) !== 'text/csv') return next.handle();
    return next.handle().pipe(map((body) => asTable(body, request, http.getResponse<Response>())));
  }
}

function asTable(body: unknown, { path }: Request, response: Response): unknown {
  if (!isObject(body) || body['object'] !== 'list' || !Array.isArray(body['data'])) return body;
  const name = path.split('/').findLast((part) => /^[\w-]+$/.test(part)) ?? 'list';
  response.vary('accept').set({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.csv"`,
    ...(typeof body['total'] === 'number' && { 'x-total-count': String(body['total']) }),
  });
  return toCsv(body['data'].filter(isObject));
}
