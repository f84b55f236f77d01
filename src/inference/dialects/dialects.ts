import type { Dialect } from './dialect.types.js';
import { anthropicMessages } from './anthropic-messages/messages.dialect.js';
import { bedrockConverse } from './bedrock/converse.dialect.js';
import { bedrockInvoke } from './bedrock/invoke.dialect.js';
import { geminiEmbeddings } from './gemini/gemini-embeddings.dialect.js';
import { gemini } from './gemini/gemini.dialect.js';
import { vertexEmbeddings } from './gemini/vertex-embeddings.dialect.js';
import { openaiChat } from './openai-chat/chat.dialect.js';
import { openaiCompletions } from './openai-completions/completions.dialect.js';
import { openaiEmbeddings } from './openai-embeddings.dialect.js';
import { openaiResponses } from './openai-responses/responses.dialect.js';

/** The dialects that the gateway's own routes accept. */
export const DIALECTS: readonly Pick<Dialect, 'slug' | 'endpoint'>[] = [
  openaiChat,
  openaiCompletions,
  openaiResponses,
  openaiEmbeddings,
  anthropicMessages,
  bedrockConverse,
  bedrockInvoke,
  gemini,
  geminiEmbeddings,
  vertexEmbeddings,
];
