import type { ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** As `context.switchToHttp().getRequest()`, which makes four objects each time: every guard of every request would. */
export function requestOf(context: ExecutionContext): Request {
  return context.getArgByIndex<Request>(0);
}
