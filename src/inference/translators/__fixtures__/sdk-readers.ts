import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../../common/json/read.js';
import type { Said } from './recorded.js';

/** Reads what a client gets with the SDK of its API. */
export interface SdkReader {
  /** Of the client, what makes it get thoughts and usage. */
  readonly request: JsonObject;
  stream(bytes: string): Promise<Said>;
  whole(answer: JsonObject): Promise<Said>;
}

type Fetch = () => Promise<Response>;

const ASK = { role: 'user', content: 'Hi' } as const;

function answering(
  body: string,
  type: string,
): { readonly apiKey: string; readonly maxRetries: 0; readonly fetch: Fetch } {
  const fetch = async (): Promise<Response> => new Response(body, { headers: { 'content-type': type } });
  return { apiKey: 'unused', maxRetries: 0, fetch };
}
const streaming = (bytes: string) => answering(bytes, 'text/event-stream');
const answeringWith = (answer: JsonObject) => answering(JSON.stringify(answer), 'application/json');

const CHAT_ENDS = {
  stop: 'end',
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'length',
  content_filter: 'refusal',
} as const;
const CHAT = { model: 'm', messages: [ASK] };

export const CHAT_SDK: SdkReader = {
  request: { ...CHAT, stream_options: { include_usage: true } },
  async stream(bytes) {
    const client = new OpenAI(streaming(bytes));
    const stream = client.chat.completions.stream({ ...CHAT, stream_options: { include_usage: true } });
    let thoughts = '';
    for await (const chunk of stream) thoughts += thoughtOf(chunk.choices[0]?.delta);
    return { ...chatSaid(await stream.finalChatCompletion()), thoughts };
  },
  async whole(answer) {
    const completion = await new OpenAI(answeringWith(answer)).chat.completions.create(CHAT);
    return { ...chatSaid(completion), thoughts: thoughtOf(completion.choices[0]?.message) };
  },
};

function chatSaid({ choices, usage }: OpenAI.ChatCompletion): Omit<Said, 'thoughts'> {
  const [choice] = choices;
  if (choice === undefined || usage === undefined) throw new Error('no choice, or no usage');
  const { message, finish_reason: reason } = choice;
  const calls = (message.tool_calls ?? []).map((call) => {
    if (call.type !== 'function') throw new Error('a call that is none of a function');
    return [call.id, call.function.name, call.function.arguments] as const;
  });
  return {
    text: message.content ?? '',
    calls,
    end: CHAT_ENDS[reason],
    usage: openaiUsage(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens, usage.prompt_tokens_details),
  };
}

/** Of a chunk or a message; no type has it. */
function thoughtOf(holder: object | undefined): string {
  const { reasoning_content: thought = '' }: JsonObject = { ...holder };
  return String(thought);
}

function openaiUsage(input: number, output: number, total: number, details: object | undefined): Said['usage'] {
  if (input + output !== total) throw new Error('the sum of the usage is not its total');
  const { cached_tokens: cached, cache_write_tokens: written }: JsonObject = { ...details };
  return [input - Number(cached) - Number(written), Number(cached), Number(written), output];
}

const MESSAGE_ENDS = {
  end_turn: 'end',
  stop_sequence: 'end',
  pause_turn: 'end',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'refusal',
} as const;
const MESSAGE = { model: 'm', max_tokens: 10, messages: [ASK] };

export const MESSAGE_SDK: SdkReader = {
  request: { ...MESSAGE, thinking: { type: 'adaptive' } },
  async stream(bytes) {
    const stream = new Anthropic(streaming(bytes)).messages.stream(MESSAGE);
    /** By the index of their block: the SDK keeps the parsed object alone. */
    const json: string[] = [];
    for await (const event of stream)
      if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta')
        json[event.index] = (json[event.index] ?? '') + event.delta.partial_json;
    return messageSaid(await stream.finalMessage(), (_input, index) => json[index] ?? '{}');
  },
  async whole(answer) {
    return messageSaid(await new Anthropic(answeringWith(answer)).messages.create(MESSAGE), (input) =>
      JSON.stringify(input),
    );
  },
};

function messageSaid(
  { content, stop_reason: reason, usage }: Anthropic.Message,
  jsonOf: (input: unknown, index: number) => string,
): Said {
  if (reason === null) throw new Error('no reason');
  return {
    thoughts: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block, index) =>
      block.type === 'tool_use' ? [[block.id, block.name, jsonOf(block.input, index)] as const] : [],
    ),
    end: MESSAGE_ENDS[reason],
    usage: [
      usage.input_tokens,
      usage.cache_read_input_tokens ?? 0,
      usage.cache_creation_input_tokens ?? 0,
      usage.output_tokens,
    ],
  };
}

const RESPONSE = { model: 'm', input: 'Hi' };

export const RESPONSE_SDK: SdkReader = {
  request: RESPONSE,
  async stream(bytes) {
    const stream = new OpenAI(streaming(bytes)).responses.stream(RESPONSE);
    let text = '';
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
    const said = responseSaid(await stream.finalResponse());
    if (said.text !== text) throw new Error('the deltas are not the text of the whole');
    return said;
  },
  async whole(answer) {
    return responseSaid(await new OpenAI(answeringWith(answer)).responses.create(RESPONSE));
  },
};

function responseSaid({
  output,
  incomplete_details: missing,
  usage,
  output_text: text,
}: OpenAI.Responses.Response): Said {
  if (usage === undefined) throw new Error('no usage');
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [[item.call_id, item.name, item.arguments] as const] : [],
  );
  const { input_tokens: input, output_tokens: made, total_tokens: total, input_tokens_details: details } = usage;
  const cut = missing?.reason === 'content_filter' ? 'refusal' : 'length';
  const ended = calls.length > 0 ? 'calls' : 'end';
  return {
    thoughts: output
      .flatMap((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text) : []))
      .join(''),
    text,
    calls,
    end: missing ? cut : ended,
    usage: openaiUsage(input, made, total, details),
  };
}
