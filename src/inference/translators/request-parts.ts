import { GatewayError, invalidField } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';

const MAX_LEFT_OUT = 20;
const MAX_NAME = 64;
const NOT_IN_HEADER = /[^\w.[\]-]/g;
/** Stands for the names that exceed the limit. */
const OTHERS = 'others';

/** Blocks of an earlier answer that record the provider's own work. */
export const DONE_BY_PROVIDER: ReadonlySet<string> = new Set([
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_use',
  'mcp_tool_result',
  'container_upload',
  'compaction',
  'fallback',
]);

/** The fields of a request that its translation leaves out. */
export class LeftOut {
  readonly #fields = new Set<string>();

  /** @param field without indices, so that each is named once: `messages.content.thinking` */
  add(field: string): void {
    const named = field.slice(0, 2 * MAX_NAME).replaceAll(NOT_IN_HEADER, '_');
    this.#fields.add(this.#fields.size < MAX_LEFT_OUT || this.#fields.has(named) ? named : OTHERS);
  }

  /** Adds the unknown fields of an object, unless they are undefined, null or an empty list. */
  addOthers(object: unknown, known: ReadonlySet<string>, prefix = ''): void {
    if (!isObject(object)) return;
    for (const [name, value] of Object.entries(object))
      if (!known.has(name) && !saysNothing(value)) this.add(prefix + name);
  }

  get fields(): readonly string[] {
    return [...this.#fields];
  }
}

/** Clients send an answer back whole, with its empty lists, which mean nothing. */
function saysNothing(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

/** Notes citations that are lost: those requested for a document, and those of a text in an earlier answer. */
export function noteCitations(citations: unknown, leftOut: LeftOut): void {
  const isAsked = isObject(citations) && citations['enabled'] === true;
  if (isAsked || (Array.isArray(citations) && citations.length > 0)) leftOut.add('messages.content.citations');
}

/** The error for a part of a request that has no equivalent, and whose loss would change the meaning of the request. */
export function untranslatable(param: string, what: string, provider: string): GatewayError {
  const message = `${param}: ${what} cannot be translated for ${provider}, which does not speak this API`;
  return new GatewayError('unsupported_parameter', { message, details: [{ param, message }] });
}

/** The input schema of a tool. Anthropic and Bedrock require its type, OpenAI does not. */
export function inputSchema(parameters: unknown): JsonObject {
  return isObject(parameters) ? { type: 'object', ...parameters } : { type: 'object', properties: {} };
}

export function listAt(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidField(path, 'must be a list');
  return value;
}

export function objectAt(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw invalidField(path, 'must be an object');
  return value;
}

export function textAt(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalidField(path, 'must be a string');
  return value;
}

/** Drops members that are undefined or null. */
export function present(members: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

/** The caller's name of a type, cut for an error message. */
export function wordOf(type: unknown): string {
  return typeof type === 'string' ? type.slice(0, MAX_NAME) : 'another form';
}
