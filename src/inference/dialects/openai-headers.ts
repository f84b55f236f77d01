import type { IncomingHttpHeaders } from 'node:http';
import { passRequestHeaders } from './request-headers.js';

/** The headers of OpenAI's clients and Codex that are forwarded. The virtual key sets organisation and project. */
const PASSED = /^(?:openai-beta|x-client-request-id|session[-_]id|conversation[-_]id|x-codex-.+)$/;

export function openaiHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return passRequestHeaders(headers, PASSED);
}
