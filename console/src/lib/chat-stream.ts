import { isRecord } from './record';
import { csrfHeaders, isErrorResponse, toApiError } from './session';

interface ChatCall {
  readonly model: string;
  readonly message: string;
  readonly maxTokens: number | undefined;
}

/** Part of an answer. */
export interface ChatPiece {
  readonly text: string;
  /** Whether the model refuses in these words. */
  readonly isRefusal: boolean;
  /** Why the answer ends here, in the provider's word; null: it goes on. */
  readonly finish: string | null;
}

/** An answer piece by piece, over server-sent events. @throws ApiError when the gateway refuses the call */
export async function streamChat(
  { model, message, maxTokens }: ChatCall,
  signal: AbortSignal,
): Promise<{ readonly traceId: string | null; readonly pieces: AsyncIterable<ChatPiece> }> {
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

async function* piecesOf(body: ReadableStream<string>, response: Response): AsyncIterable<ChatPiece> {
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
      const event = eventIn(data);
      if (isErrorResponse(event)) throw toApiError(event, response);
      yield pieceIn(event);
    }
  }
}

function eventIn(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new Error('The provider sent an event that is not JSON.');
  }
}

function pieceIn(event: unknown): ChatPiece {
  const choices = isRecord(event) ? event['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isRecord(choice)) return { text: '', isRefusal: false, finish: null };
  const { delta, finish_reason: finish } = choice;
  const { content, refusal } = isRecord(delta) ? delta : {};
  const isRefusal = typeof refusal === 'string' && refusal !== '';
  const text = isRefusal ? refusal : content;
  return { text: typeof text === 'string' ? text : '', isRefusal, finish: typeof finish === 'string' ? finish : null };
}
