import { isObject, type JsonObject } from '../../../common/json/read.js';
import { fittedName } from '../fitted-names.js';
import { type LeftOut, listAt, objectAt, textAt, untranslatable, wordOf } from '../request-parts.js';
import type { ConverseContent } from './converse-content.js';

/** Tools of the provider that a model can do without when it has others. */
const EXTRA_TOOL = /^(web_search|web_fetch|code_execution|tool_search)_/;
const NONE: ReadonlySet<string> = new Set();

interface ToolOptions {
  readonly provider: string;
  readonly leftOut: LeftOut;
}

/** The tools and the tool choice. Converse requires the definitions of all tools that the conversation has called. */
export function toolsOf(
  { tools: given, tool_choice: choice }: JsonObject,
  content: ConverseContent,
  options: ToolOptions,
): JsonObject | undefined {
  const { provider, leftOut } = options;
  const all = (given ?? null) === null ? [] : listAt(given, 'tools');
  const tools = all.flatMap((tool, index) => toolOf(objectAt(tool, `tools.${index}`), index, content, options));
  // The caller wants the tool's result, and would mistake the model's text for it.
  if (all.length > 0 && tools.length === 0) throw untranslatable('tools', 'tools of the provider alone', provider);
  const { type, name, disable_parallel_tool_use: isSingle } = isObject(choice) ? choice : {};
  if (isSingle === true) leftOut.add('tool_choice.disable_parallel_tool_use');
  // Without tools, the model cannot call any. After earlier calls, Converse requires them, and has no choice `none`.
  if (type === 'none' && content.calledTools.length === 0) return undefined;
  if (type === 'none') leftOut.add('tool_choice');
  if (tools.length === 0) {
    const called = content.calledTools.map((each) => specOf(each, {}, { type: 'object' }));
    return called.length === 0 ? undefined : { tools: called };
  }
  if (type === 'any') return { tools, toolChoice: { any: {} } };
  return type === 'tool' ? { tools, toolChoice: { tool: { name: chosenName(name, tools, provider) } } } : { tools };
}

function toolOf(
  tool: JsonObject,
  index: number,
  content: ConverseContent,
  { provider, leftOut }: ToolOptions,
): readonly JsonObject[] {
  const { type = 'custom', name, description, input_schema: schema, cache_control: mark, ...others } = tool;
  if (type !== 'custom') {
    const [, extra] = EXTRA_TOOL.exec(wordOf(type)) ?? [];
    if (extra === undefined) throw untranslatable(`tools.${index}`, `the tool ${wordOf(type)}`, provider);
    leftOut.add(`tools.${extra}`);
    return [];
  }
  leftOut.addOthers(others, NONE, 'tools.');
  const said = typeof description === 'string' && description !== '' ? { description } : {};
  const fitted = fittedName(textAt(name, `tools.${index}.name`));
  return [specOf(fitted, said, schema ?? { type: 'object' }), ...content.markOf(mark)];
}

function specOf(name: string, said: JsonObject, json: unknown): JsonObject {
  return { toolSpec: { name, ...said, inputSchema: { json } } };
}

function chosenName(given: unknown, tools: readonly JsonObject[], provider: string): string {
  const name = fittedName(textAt(given, 'tool_choice.name'));
  const isThere = tools.some(({ toolSpec: spec }) => isObject(spec) && spec['name'] === name);
  if (!isThere) throw untranslatable('tool_choice', 'the choice of a tool of the provider', provider);
  return name;
}
