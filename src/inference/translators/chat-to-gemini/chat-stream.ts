import { isObject, type JsonObject } from '../../../common/json/read.js';
import { chatChunk } from '../chat-to-messages/chat-answer.js';
import { brokenOff, invalidAnswer } from '../provider-words.js';
import { STREAM_END, type StreamTranslation } from '../translator.types.js';
import { type AskedGemini, finishReasonOf, headOf, readGemini, toChatUsage } from './chat-answer.js';

/** The most calls of tools in one answer. */
const MAX_CALLS = 1_024;

/** Translates Gemini's events, each with a part of the answer, to the chunks of a chat. Tool calls arrive whole. */
export class ChatStream implements StreamTranslation {
  #head: JsonObject | undefined;
  #callCount = 0;
  #reason: string | undefined;
  #usage: JsonObject | undefined;

  constructor(private readonly asked: AskedGemini) {}

  push(event: JsonObject | typeof STREAM_END): readonly JsonObject[] {
    if (event === STREAM_END) return [];
    const { said, reason } = readGemini(event, this.#callCount, this.asked);
    const chunks = this.#begin(event);
    if (said.thought !== '') chunks.push(this.#chunk({ reasoning_content: said.thought }));
    if (said.text !== '') chunks.push(this.#chunk({ content: said.text }));
    for (const call of said.calls) chunks.push(this.#chunk({ tool_calls: [{ index: this.#callCount++, ...call }] }));
    if (this.#callCount > MAX_CALLS) throw invalidAnswer('too many tool calls');
    this.#reason ??= reason;
    // Counts are cumulative.
    if (isObject(event['usageMetadata'])) this.#usage = event['usageMetadata'];
    return chunks;
  }

  /** Gemini sends no end mark. The usage arrives with the last event. */
  end(): readonly JsonObject[] {
    if (this.#reason === undefined) throw brokenOff();
    const last = this.#chunk({}, finishReasonOf(this.#reason, this.#callCount > 0));
    return this.asked.asksForUsage ? [last, { ...this.#head, choices: [], usage: toChatUsage(this.#usage) }] : [last];
  }

  #begin(event: JsonObject): JsonObject[] {
    if (this.#head !== undefined) return [];
    this.#head = headOf(event, 'chat.completion.chunk', this.asked);
    return [this.#chunk({ role: 'assistant', content: '', refusal: null })];
  }

  #chunk(delta: JsonObject, finishReason?: string): JsonObject {
    return chatChunk(this.#head, this.asked, delta, finishReason);
  }
}
