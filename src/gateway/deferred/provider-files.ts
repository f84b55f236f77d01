import { finished } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { NO_ANSWER_HEAD } from '../answer-head.js';
import { ProviderCallService } from '../provider-call.service.js';
import type { ProviderContext } from '../provider-context.decorator.js';
import { fileContentRequest } from '../relay/relay-input.js';
import type { ProviderRequest } from '../../upstream/providers/provider.types.js';
import { LineReader, TooLargeError } from './line-reader.js';
import { GatewayError } from '../../common/errors/gateway.error.js';

/** OpenAI takes batches of 200 MB and 50,000 lines; the results of one may be larger. */
const BOUNDS = { bytes: 1_073_741_824, lineBytes: 33_554_432, lines: 100_000 } as const;

/** The results of a job do not exist and never will. */
export class ResultsMissingError extends Error {
  constructor(options: ErrorOptions) {
    super('the results are not there', options);
    this.name = 'ResultsMissingError';
  }
}

/** Reads files at the provider of a virtual key. */
@Injectable()
export class ProviderFiles {
  constructor(private readonly calls: ProviderCallService) {}

  /**
   * Reads a file line by line.
   * @param request the request for the file
   * @param onLine an error that it throws ends the reading
   * @throws the error of `onLine` or of the provider; TooLargeError; Error after the time limit
   */
  async eachLine(
    context: ProviderContext,
    request: ProviderRequest,
    maxMs: number,
    onLine: (line: Buffer, number: number) => void,
  ): Promise<void> {
    const reader = new LineReader(onLine, BOUNDS);
    const isRead = finished(reader);
    // The race below reports the error.
    isRead.catch(() => undefined);
    const timer = setTimeout(() => reader.destroy(new Error(`not read within ${maxMs} ms`)), maxMs);
    try {
      const operation = { operation: 'files.content', model: undefined, isOptional: true, request } as const;
      const call = this.calls.relay(
        { ...context, answer: NO_ANSWER_HEAD },
        { ...operation, retry: 'idempotent' },
        { sinkFor: ({ status }) => (status >= 200 && status <= 299 ? reader : undefined), retry: 'idempotent' },
      );
      const { body } = await Promise.race([call, neverUnless(isRead)]);
      if (body !== undefined) reader.end(body);
      await isRead;
    } finally {
      clearTimeout(timer);
      reader.destroy();
    }
  }
}

/** Rejects with the error of the reading; the call itself would only report that its receiver disconnected. */
async function neverUnless(isRead: Promise<void>): Promise<never> {
  await isRead;
  return new Promise(() => undefined);
}

/** The request for a file at a provider of OpenAI's API. */
export function accountFile({ account }: ProviderContext, fileId: string): ProviderRequest {
  return { ...fileContentRequest(fileId), headers: account };
}

/** The reason why a file leaves the usage of a job open, for the error message. */
export function unreadableReason(error: unknown): string {
  if (error instanceof TooLargeError) return error.message;
  const status = error instanceof GatewayError ? error.provider?.status : undefined;
  return status === undefined ? 'the file cannot be read' : `the file cannot be read: ${status}`;
}
