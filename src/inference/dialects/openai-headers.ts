import type { IncomingHttpHeaders } from 'node:http';
import { passRequestHeaders } from './request-headers.js';

/** What OpenAI's clients say about a request, Codex's own names included. Organisation and project are the virtual key's. */
const PASSED = /^(?:openai-beta|x-client-request-id|session[-_]id|conversation[-_]id|x-codex-.+)$/;

export function openaiHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return passRequestHeaders(headers, PASSED);
}
