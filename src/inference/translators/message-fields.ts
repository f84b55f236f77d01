import { isObject, type JsonObject } from '../../common/json/read.js';
import type { LeftOut } from './request-parts.js';

/** The fields of every block of a message. */
const OF_BLOCK = ['type', 'cache_control'] as const;
const SOURCE: ReadonlySet<string> = new Set(['type', 'media_type', 'data', 'url', 'content', 'file_id']);
const MESSAGE: ReadonlySet<string> = new Set(['role', 'content']);
const TOOL_CHOICE: ReadonlySet<string> = new Set(['type', 'name', 'disable_parallel_tool_use']);
const FORMAT: ReadonlySet<string> = new Set(['type', 'schema', 'name']);
/** The fields that are read, by the type of a block. Blocks of other types are left out or refused. */
const BLOCKS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map(
  Object.entries({
    text: ['text', 'citations'],
    image: ['source'],
    document: ['source', 'title', 'context', 'citations'],
    search_result: ['title', 'source', 'content', 'citations'],
    tool_use: ['id', 'name', 'input', 'caller'],
    tool_result: ['tool_use_id', 'content', 'is_error'],
    tool_reference: ['tool_name'],
  }).map(([type, fields]) => [type, new Set([...OF_BLOCK, ...fields])]),
);

/**
 * Notes the fields of a message request that no translator knows, outside of its blocks. `noteBlockFields` notes those
 * within.
 */
export function noteMessageFields(request: JsonObject, leftOut: LeftOut): void {
  const { messages, tool_choice: choice, output_config: config, output_format: former } = request;
  for (const message of Array.isArray(messages) ? messages : []) leftOut.addOthers(message, MESSAGE, 'messages.');
  leftOut.addOthers(choice, TOOL_CHOICE, 'tool_choice.');
  leftOut.addOthers(isObject(config) ? config['format'] : undefined, FORMAT, 'output_config.format.');
  leftOut.addOthers(former, FORMAT, 'output_format.');
}

/** @param place the path of the block: `messages.content.` */
export function noteBlockFields(block: JsonObject, place: string, leftOut: LeftOut): void {
  const { type, source, caller } = block;
  const known = BLOCKS.get(type);
  if (known === undefined) return;
  leftOut.addOthers(block, known, place);
  leftOut.addOthers(source, SOURCE, `${place}source.`);
  // `direct` is the default: the model itself calls the tool.
  if (isObject(caller) && caller['type'] !== 'direct') leftOut.add(`${place}caller`);
}
