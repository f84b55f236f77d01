import { isObject, type JsonObject, stringOrUndefined } from '../../common/json/read.js';
import { isStorable } from '../../common/validation/is-storable.decorator.js';
import { toolHash } from './tool-hash.js';

/** A longer schema is not stored: a form for it would not be useful. */
const MAX_SCHEMA_BYTES = 16 * 1024;

/** A tool as a server lists it. */
export interface SeenTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** See `toolHash`. */
  readonly hash?: string | undefined;
  /** The JSON schema of the tool's input, not validated. */
  readonly inputSchema?: JsonObject | undefined;
}

/** Reads a tool of a list; undefined for an invalid one. */
export function readSeenTool(tool: unknown): SeenTool | undefined {
  if (!isObject(tool)) return undefined;
  const name = stringOrUndefined(tool['name']);
  return name === undefined ? undefined : toSeenTool(name, tool);
}

export function toSeenTool(name: string, tool: JsonObject): SeenTool {
  const schema = tool['inputSchema'];
  return {
    name,
    description: stringOrUndefined(tool['description']),
    hash: toolHash(tool),
    inputSchema: isObject(schema) ? schema : undefined,
  };
}

/** The schema, or null when the column cannot hold it or it is too long. */
export function storableSchema(schema: JsonObject | undefined): JsonObject | null {
  if (schema === undefined || !isStorable(schema)) return null;
  return Buffer.byteLength(JSON.stringify(schema)) <= MAX_SCHEMA_BYTES ? schema : null;
}
