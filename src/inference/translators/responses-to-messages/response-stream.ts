import { stringifyLongNumbers } from '../../../common/json/numbers.js';
import { isObject, type JsonObject, stringOrUndefined } from '../../../common/json/read.js';
import { isErrorAlone } from '../../failed-answers.js';
import { brokenOff, errorInstead, invalidAnswer } from '../provider-words.js';
import { STREAM_END, type StreamTranslation } from '../translator.types.js';
import {
  type AskedResponse,
  type Block,
  customInput,
  endedResponse,
  itemOf,
  outputText,
  responseHead,
} from './response-answer.js';

/** The most characters of one answer. All are kept, since the last event repeats them. */
const MAX_ANSWER = 32 * 1024 * 1024;
/** The most blocks of one answer. */
const MAX_BLOCKS = 4_096;

interface OpenBlock extends Block {
  /** The index of its item in the output. */
  readonly output: number;
  /** The input of a call for servers that send it whole, without further pieces. */
  readonly whole: string;
}

/** Translates the events of a message to those of a response. */
export class ResponseStream implements StreamTranslation {
  #head: JsonObject | undefined;
  #sequence = 0;
  /** Open blocks by their index; undefined for a block without an item. */
  readonly #open = new Map<unknown, OpenBlock | undefined>();
  readonly #items: JsonObject[] = [];
  #characters = 0;
  #reason: unknown;
  #usage: JsonObject = {};
  #isOver = false;

  constructor(private readonly asked: AskedResponse) {}

  push(event: JsonObject | typeof STREAM_END): readonly JsonObject[] {
    if (this.#isOver || event === STREAM_END) return [];
    if (isErrorAlone(event)) throw errorInstead(event, this.asked.provider);
    return this.#of(event).map((made) => ({ ...made, sequence_number: this.#sequence++ }));
  }

  end(): readonly JsonObject[] {
    if (!this.#isOver) throw brokenOff();
    return [];
  }

  #of(event: JsonObject): readonly JsonObject[] {
    const { type, index, message, content_block: block, delta, usage } = event;
    switch (type) {
      case 'message_start':
        return this.#begin(isObject(message) ? message : {});
      case 'content_block_start':
        return this.#start(index, isObject(block) ? block : {});
      case 'content_block_delta':
        // The text of a block that has not begun would be lost.
        if (!this.#open.has(index)) throw invalidAnswer('a piece of a block that has not begun');
        return this.#add(this.#open.get(index), isObject(delta) ? delta : {});
      case 'content_block_stop':
        return this.#stop(index);
      case 'message_delta':
        if (isObject(delta)) this.#reason = delta['stop_reason'] ?? this.#reason;
        this.#noteUsage(usage);
        return [];
      case 'message_stop':
        return this.#finish();
      default:
        return [];
    }
  }

  #begin(message: JsonObject): readonly JsonObject[] {
    if (this.#head !== undefined) return [];
    this.#head = responseHead(message, this.asked);
    this.#noteUsage(message['usage']);
    return ['response.created', 'response.in_progress'].map((type) => ({ type, response: this.#head }));
  }

  /** Counts are cumulative, and each may be null or absent. */
  #noteUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    const known = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
  }

  #start(index: unknown, { type, id, name, input, text, thinking }: JsonObject): readonly JsonObject[] {
    if (this.#items.length >= MAX_BLOCKS) throw invalidAnswer('too many blocks');
    const block: OpenBlock = {
      type,
      id,
      name,
      text: '',
      json: '',
      output: this.#items.length,
      whole: stringifyLongNumbers(input ?? {}),
    };
    const item = itemOf(block, block.output, this.asked, 'in_progress');
    this.#open.set(index, item && block);
    if (item === undefined) return [];
    this.#items.push(item);
    const place = { output_index: block.output, item: withoutInput(item) };
    const begun = { type: 'response.output_item.added', ...place };
    const said = stringOrUndefined(text) ?? stringOrUndefined(thinking) ?? '';
    const first = said === '' ? [] : this.#add(block, type === 'text' ? { text: said } : { thinking: said });
    return [begun, ...this.#beginPart(block, item), ...first];
  }

  #beginPart({ type, output }: OpenBlock, { id }: JsonObject): readonly JsonObject[] {
    const at = { item_id: id, output_index: output };
    if (type === 'text')
      return [{ type: 'response.content_part.added', ...at, content_index: 0, part: outputText('') }];
    if (type !== 'thinking') return [];
    return [{ type: 'response.reasoning_summary_part.added', ...at, summary_index: 0, part: summaryText('') }];
  }

  #add(block: OpenBlock | undefined, { text, thinking, partial_json: json }: JsonObject): readonly JsonObject[] {
    if (block === undefined) return [];
    const item_id = this.#items[block.output]?.['id'];
    const at = { item_id, output_index: block.output };
    if (block.type === 'tool_use') {
      const piece = stringOrUndefined(json) ?? '';
      this.#count(piece);
      block.json += piece;
      if (piece === '' || this.#isCustom(block)) return [];
      return [{ type: 'response.function_call_arguments.delta', ...at, delta: piece }];
    }
    const delta = stringOrUndefined(text) ?? stringOrUndefined(thinking) ?? '';
    if (delta === '') return [];
    this.#count(delta);
    block.text += delta;
    return block.type === 'text'
      ? [{ type: 'response.output_text.delta', ...at, content_index: 0, delta, logprobs: [] }]
      : [{ type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta }];
  }

  #stop(index: unknown): readonly JsonObject[] {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block === undefined) return [];
    const rest = block.json === '' && block.whole !== '{}' ? this.#add(block, { partial_json: block.whole }) : [];
    if (block.json === '') block.json = block.whole;
    const item = itemOf(block, block.output, this.asked, 'completed') ?? {};
    this.#items[block.output] = item;
    const done = { type: 'response.output_item.done', output_index: block.output, item };
    return [...rest, ...this.#endPart(block, item), done];
  }

  #endPart(block: OpenBlock, { id }: JsonObject): readonly JsonObject[] {
    const { type, output, text, json } = block;
    const at = { item_id: id, output_index: output };
    if (type === 'text') {
      const part = { ...at, content_index: 0 };
      return [
        { type: 'response.output_text.done', ...part, text, logprobs: [] },
        { type: 'response.content_part.done', ...part, part: outputText(text) },
      ];
    }
    if (type === 'thinking') {
      const part = { ...at, summary_index: 0 };
      return [
        { type: 'response.reasoning_summary_text.done', ...part, text },
        { type: 'response.reasoning_summary_part.done', ...part, part: summaryText(text) },
      ];
    }
    if (!this.#isCustom(block)) return [{ type: 'response.function_call_arguments.done', ...at, arguments: json }];
    const input = customInput(json);
    return [
      { type: 'response.custom_tool_call_input.delta', ...at, delta: input },
      { type: 'response.custom_tool_call_input.done', ...at, input },
    ];
  }

  #finish(): readonly JsonObject[] {
    if (this.#head === undefined) throw brokenOff();
    const rest = [...this.#open.keys()].flatMap((index) => this.#stop(index));
    this.#isOver = true;
    const response = endedResponse(this.#head, this.#items, this.#reason, this.#usage);
    return [...rest, { type: `response.${String(response['status'])}`, response }];
  }

  #isCustom({ name }: OpenBlock): boolean {
    return typeof name === 'string' && this.asked.tools.find(name).isCustom;
  }

  #count(piece: string): void {
    this.#characters += piece.length;
    if (this.#characters > MAX_ANSWER) throw invalidAnswer('an answer that is too long');
  }
}

/** Empties the input of a call that has just begun. Its pieces follow. */
function withoutInput(item: JsonObject): JsonObject {
  if (item['type'] === 'function_call') return { ...item, arguments: '' };
  return item['type'] === 'custom_tool_call' ? { ...item, input: '' } : item;
}

function summaryText(text: string): JsonObject {
  return { type: 'summary_text', text };
}
