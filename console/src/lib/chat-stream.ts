import { isRecord } from './record';
import { ApiError, csrfHeaders, toApiError } from './session';

interface ChatCall {
  readonly model: string;
  readonly message: string;
  readonly maxTokens: number | undefined;
}

/** The text of an answer piece by piece, over server-sent events. @throws ApiError when the gateway refuses the call */
export async function streamChat(
  { model, message, maxTokens }: ChatCall,
  signal: AbortSignal,
): Promise<{ readonly traceId: string | null; readonly pieces: AsyncIterable<string> }> {
  const response = await fetch('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...csrfHeaders() },
    body: JSON.stringify({
      model,
      stream: true,
      max_completion_tokens: maxTokens,
      messages: [{ role: 'user', content: message }],
    }),
    signal,
  }).catch((error: unknown) => {
    throw signal.aborted ? error : toApiError(undefined, undefined);
  });
  if (!response.ok || response.body === null) {
    const body: unknown = await response.json().catch(() => undefined);
    throw toApiError(body, response);
  }
  const traceId = response.headers.get('x-gateway-trace-id');
  return { traceId, pieces: piecesOf(response.body.pipeThrough(new TextDecoderStream()), response) };
}

async function* piecesOf(body: ReadableStream<string>, response: Response): AsyncIterable<string> {
  const reader = body.getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw new Error('The connection ended before the answer did.');
    });
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = /^data: ?(.*)$/.exec(line.trimEnd())?.[1];
      if (data === undefined || data === '[DONE]') continue;
      const event: unknown = JSON.parse(data);
      const failure = toApiError(event, response);
      if (failure.error.code !== 'unreachable') throw new ApiError(response.status, failure.error, failure.traceId);
      yield textOf(event);
    }
  }
}

function textOf(event: unknown): string {
  const choices = isRecord(event) ? event['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const delta = isRecord(choice) ? choice['delta'] : undefined;
  const content = isRecord(delta) ? delta['content'] : undefined;
  return typeof content === 'string' ? content : '';
}
