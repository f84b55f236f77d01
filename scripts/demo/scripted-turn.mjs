// What the scripted model does: it greets; with tools it calls one of them, and then repeats what the tool returned.

/** Tokens of every answer. */
export const USAGE = { input: 20, output: 10 };

const GREETING = 'Hello from the scripted provider. It gives this answer to everyone, one word at a time.';
const COMMAND = 'echo from-the-tool';
/** Tools with which coding agents run commands. What they get must be harmless: agents do run it. */
const COMMAND_TOOLS = new Map([
  ['Bash', { command: COMMAND, description: 'Print a line' }],
  ['exec_command', { cmd: COMMAND }],
  ['shell_command', { command: COMMAND }],
  ['bash', { command: COMMAND, description: 'Print a line' }],
  ['run_commands', { commands: [COMMAND] }],
  ['run_shell_command', { command: COMMAND, is_background: false }],
]);
/** Agents name the tools of MCP servers so. */
const MCP_TOOL = /^mcp__/;
const EXAMPLES = { string: 'example', number: 1, integer: 1, boolean: true, array: [] };

/**
 * @param tools those that the caller runs, each with its name, the JSON schema of its input, and its namespace if it has one
 * @param results what tools have returned so far, as their messages hold it
 * @returns `{text}` or `{call: {name, input}}`, with the namespace of a tool that has one
 */
export function nextTurn(tools, results) {
  if (results.length > 0) return { text: `The tool said ${lastLineOf(results.at(-1))}.` };
  const tool =
    tools.find(({ name, namespace = name }) => MCP_TOOL.test(namespace)) ??
    tools.find(({ name }) => COMMAND_TOOLS.has(name)) ??
    tools[0];
  if (tool === undefined) return { text: GREETING };
  const { schema, ...names } = tool;
  return { call: { ...names, input: COMMAND_TOOLS.get(tool.name) ?? exampleOf(schema) } };
}

/** In pieces, as a stream has them; together they are the text. */
export function piecesOf(text) {
  return text.split(/(?<= )/);
}

/** The input of a call as JSON, in two pieces: clients have to put them together. */
export function inputPieces(input) {
  const json = JSON.stringify(input);
  return [json.slice(0, 5), json.slice(5)];
}

function lastLineOf(content) {
  const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n');
  return text.trim().split('\n').at(-1);
}

function exampleOf({ type, properties = {}, required = [], enum: values } = {}) {
  if (values !== undefined) return values[0];
  if (type !== 'object') return EXAMPLES[type] ?? null;
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name])]));
}
