import { request, type IncomingHttpHeaders } from 'node:http';
import { isObject, type JsonObject, readArray, readObject } from '../../src/common/json/read.js';

export interface Message {
  readonly method?: string;
  /** Sent instead of the URL's own path, which never has dot segments. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Pieces are sent one by one, without a Content-Length. */
  readonly body?: string | Buffer | readonly Buffer[];
  /** Closes the connection when it fires. */
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request on a connection of its own, which is closed afterwards. Rejects when no complete answer arrives. */
export function send(
  url: string,
  { method = 'POST', path, headers = {}, body, signal }: Message = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      headers,
      agent: false,
      ...(path === undefined ? {} : { path }),
      ...(signal === undefined ? {} : { signal }),
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    if (typeof body === 'string' || Buffer.isBuffer(body)) {
      outgoing.setHeader('content-length', Buffer.byteLength(body));
      outgoing.end(body);
    } else {
      for (const piece of body ?? []) outgoing.write(piece);
      outgoing.end();
    }
  });
}

export function jsonOf(answer: Pick<Answer, 'text'>): Readonly<Record<string, unknown>> {
  return readObject(JSON.parse(answer.text), 'body');
}

/** The stable parts of a refusal. The message is left out: it may change. */
export function refusalOf(answer: Answer): object {
  const error = errorIn(answer);
  // At the addresses of Anthropic's API, they are in the details.
  const { error_code, code, param, source } = error['param'] === undefined ? detailsOf(error) : error;
  return { status: answer.status, code: error_code ?? code, param, source };
}

/** The message of a refusal may stand beside it, as at the addresses of Bedrock's API. */
export function errorIn(answer: Answer): JsonObject {
  const { error, message } = jsonOf(answer);
  return { ...(message === undefined ? {} : { message }), ...readObject(error, 'body.error') };
}

function detailsOf({ details }: JsonObject): JsonObject {
  if (!Array.isArray(details)) return isObject(details) ? details : {};
  // At the addresses of Gemini's API, they are an item of a list.
  const { reason, metadata } = readObject(details[0], 'details.0');
  const { param = null, source } = readObject(metadata, 'details.0.metadata');
  return { code: reason, param, source };
}

/** The `param` of every broken rule that a refusal lists. */
export function brokenRulesOf(answer: Answer): ReadonlySet<unknown> {
  const { details } = readObject(jsonOf(answer)['error'], 'body.error');
  return new Set(readArray(details, 'body.error.details').map((detail) => readObject(detail, 'detail')['param']));
}
