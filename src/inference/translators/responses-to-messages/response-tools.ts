import { isObject, type JsonObject } from '../../../common/json/read.js';
import { fittedName } from '../fitted-names.js';
import {
  inputSchema,
  type LeftOut,
  listAt,
  objectAt,
  present,
  textAt,
  untranslatable,
  wordOf,
} from '../request-parts.js';

/** Tools of the provider that a model can do without. */
const DISPENSABLE = /^(?:web_search|image_generation|tool_search)/;
const TEXT_INPUT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
} as const;

const OF_TOOL: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters', 'strict', 'format']);
const OF_NAMESPACE: ReadonlySet<string> = new Set(['type', 'name', 'description', 'tools']);
const OF_CHOICE: ReadonlySet<string> = new Set(['type', 'name', 'namespace', 'mode', 'tools']);

/** A tool under the caller's names. */
export interface CallersTool {
  readonly name: string;
  readonly namespace: string | undefined;
  /** Whether its input is plain text. */
  readonly isCustom: boolean;
}

/** The tools of a response, under names without namespaces. */
export class ResponseTools {
  readonly #byName = new Map<string, CallersTool>();
  readonly definitions: readonly JsonObject[];
  private readonly provider: string;
  /** Whether the target API has `strict`. */
  private readonly keepsStrict: boolean;

  constructor(
    tools: unknown,
    private readonly leftOut: LeftOut,
    { provider, keepsStrict }: { readonly provider: string; readonly keepsStrict: boolean },
  ) {
    this.provider = provider;
    this.keepsStrict = keepsStrict;
    const given = tools === undefined || tools === null ? [] : listAt(tools, 'tools');
    this.definitions = given.flatMap((tool, index) =>
      this.#toolsOf(objectAt(tool, `tools.${index}`), `tools.${index}`),
    );
  }

  /** Finds the caller's tool for a call of the model. */
  find(name: string): CallersTool {
    return this.#byName.get(name) ?? { name, namespace: undefined, isCustom: false };
  }

  choiceOf({ tool_choice: choice, parallel_tool_calls: isParallel }: JsonObject): JsonObject {
    if (this.definitions.length === 0) return {};
    const chosen = this.#choice(choice);
    if (chosen['type'] === 'none' || isParallel !== false)
      return chosen['type'] === 'auto' ? {} : { tool_choice: chosen };
    return { tool_choice: { ...chosen, disable_parallel_tool_use: true } };
  }

  #choice(choice: unknown): JsonObject {
    if (choice === 'none') return { type: 'none' };
    if (choice === 'required') return { type: 'any' };
    if (!isObject(choice)) return { type: 'auto' };
    const { type, name, namespace } = choice;
    this.leftOut.addOthers(choice, OF_CHOICE, 'tool_choice.');
    if (type === 'function' || type === 'custom')
      return { type: 'tool', name: flatName(textAt(name, 'tool_choice.name'), namespace) };
    if (type !== 'allowed_tools') throw untranslatable('tool_choice', `the tool ${wordOf(type)}`, this.provider);
    this.leftOut.add('tool_choice.allowed_tools');
    return { type: choice['mode'] === 'required' ? 'any' : 'auto' };
  }

  #toolsOf(tool: JsonObject, path: string, namespace?: string): readonly JsonObject[] {
    const { type, strict } = tool;
    if (type === 'namespace') {
      const name = textAt(tool['name'], `${path}.name`);
      this.leftOut.addOthers(tool, OF_NAMESPACE, 'tools.namespace.');
      if (tool['description']) this.leftOut.add('tools.namespace.description');
      const list = listAt(tool['tools'], `${path}.tools`);
      return list.flatMap((each, index) =>
        this.#toolsOf(objectAt(each, `${path}.tools.${index}`), `${path}.tools.${index}`, name),
      );
    }
    if (type === 'function') {
      if (strict === true && !this.keepsStrict) this.leftOut.add('tools.strict');
      const more = strict === true && this.keepsStrict ? { strict } : {};
      return [{ ...this.#define(tool, path, namespace, inputSchema(tool['parameters'])), ...more }];
    }
    if (type === 'custom') return [this.#define(tool, path, namespace, TEXT_INPUT)];
    if (typeof type !== 'string' || !DISPENSABLE.test(type))
      throw untranslatable(path, `the tool ${wordOf(type)}`, this.provider);
    this.leftOut.add(`tools.${type}`);
    return [];
  }

  #define(tool: JsonObject, path: string, namespace: string | undefined, schema: JsonObject): JsonObject {
    this.leftOut.addOthers(tool, OF_TOOL, 'tools.');
    const own = textAt(tool['name'], `${path}.name`);
    const name = flatName(own, namespace);
    if (this.#byName.has(name)) throw untranslatable(path, `a second tool of the name ${name}`, this.provider);
    this.#byName.set(name, { name: own, namespace, isCustom: tool['type'] === 'custom' });
    return present({ name, description: descriptionOf(tool), input_schema: schema });
  }
}

/** Joins a namespace and a name. The result is the same in each request. */
export function flatName(name: string, namespace: unknown): string {
  if (typeof namespace !== 'string' || namespace === '') return fittedName(name);
  return fittedName(namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`);
}

function descriptionOf({ description, format }: JsonObject): string | undefined {
  const said = typeof description === 'string' ? description : undefined;
  if (!isObject(format) || typeof format['definition'] !== 'string') return said;
  const grammar = `The input has to match this grammar (${wordOf(format['syntax'])}):\n${format['definition']}`;
  return said === undefined ? grammar : `${said}\n\n${grammar}`;
}
