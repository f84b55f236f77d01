import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { readBody } from '../../common/http/read-body.js';
import { checkMcpHeaders } from '../inspection/header-match.js';
import { inspectBody, type InspectedBody } from '../inspection/inspect-body.js';

/** The body of a POST: its bytes, and what was understood of it. */
export interface McpMessage {
  readonly body: Buffer;
  readonly inspected: InspectedBody | undefined;
}

/**
 * Reads the body of a POST. Where nothing is decided by it, what it says is only noted, and what is not understood is the
 * server's to refuse.
 * @throws GatewayError `payload_too_large`; and where it decides (`isStrict`), `validation_failed` and `unsupported_media_type`
 */
export async function readMessage(
  request: IncomingMessage,
  limitBytes: number,
  isStrict: boolean,
): Promise<McpMessage> {
  const { headers } = request;
  // The server would not learn of the encoding: it describes the message on its way to the gateway.
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_media_type');
  }
  const body = await readBody(request, limitBytes);
  if (!isStrict) return { body, inspected: understand(() => inspectBody(body, headers)) };
  const inspected = inspectBody(body, headers);
  checkMcpHeaders(headers, inspected);
  return { body, inspected };
}

/** Method of the first message. */
export function rpcMethodOf(message: McpMessage | undefined): string | undefined {
  return message?.inspected?.messages[0]?.method;
}

/** The tool that is called; of a batch, the first. */
export function toolOf(message: McpMessage | undefined): string | undefined {
  return toolsOf(message)[0];
}

/** The tools that are called, as often as they are. */
export function toolsOf(message: McpMessage | undefined): readonly string[] {
  const messages = message?.inspected?.messages ?? [];
  return messages.flatMap(({ method, subject }) => (method === 'tools/call' && subject !== undefined ? [subject] : []));
}

function understand(read: () => InspectedBody): InspectedBody | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
