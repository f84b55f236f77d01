import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  type ElicitRequestFormParams,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { PROMPTS, RESOURCES } from './mcp-everything-content.js';
import { ENUMS, WITH_DEFAULTS } from './mcp-everything-forms.js';
import { AUDIO, IMAGE, TOOLS } from './mcp-everything-tools.js';

const STEP_MS = 50;

/** The actions of a tool during its call. */
type Extra = Parameters<Parameters<McpServer['server']['setRequestHandler']>[1]>[1];
type Call = (args: Readonly<Record<string, unknown>>, extra: Extra) => Promise<CallToolResult> | CallToolResult;

/** A server with everything that the conformance suite requests by name (MCP 2025-11-25). Its texts are the suite's. */
export function createEverythingServer(): McpServer {
  const capabilities = { tools: {}, prompts: {}, resources: { subscribe: true }, logging: {}, completions: {} };
  const mcp = new McpServer({ name: 'everything', version: '1.0.0' }, { capabilities });
  const { server } = mcp;
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [...TOOLS] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const call = CALLS.get(params.name);
    if (call === undefined) throw unknown(params.name);
    return call(params.arguments ?? {}, extra);
  });
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: PROMPTS.map(({ prompt }) => prompt) }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const found = PROMPTS.find(({ prompt }) => prompt.name === params.name);
    if (found === undefined) throw unknown(params.name);
    return { messages: [...found.messages(params.arguments ?? {})] };
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: RESOURCES.map(({ content: { uri, mimeType }, ...about }) => ({ uri, mimeType, ...about })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({ contents: [contentOf(uri)] }));
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(CompleteRequestSchema, () => ({
    completion: { values: ['test-one', 'test-two'], total: 2, hasMore: false },
  }));
  return mcp;
}

function contentOf(uri: string) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { uri, mimeType: 'application/json', text };
  }
  const found = RESOURCES.find(({ content }) => content.uri === uri);
  if (found === undefined) throw unknown(uri);
  return found.content;
}

const CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['test_simple_text', () => text('This is a simple text response for testing.')],
  ['test_image_content', () => ({ content: [IMAGE] })],
  ['test_audio_content', () => ({ content: [AUDIO] })],
  ['test_embedded_resource', () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'Embedded.')] })],
  [
    'test_multiple_content_types',
    () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        IMAGE,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  ],
  ['test_error_handling', () => ({ ...text('This tool intentionally returns an error for testing'), isError: true })],
  ['json_schema_2020_12_tool', ({ name }) => text(String(name))],
  [
    'test_tool_with_logging',
    async (_args, extra) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
        await sleep(STEP_MS);
      }
      return text('logged');
    },
  ],
  [
    'test_tool_with_progress',
    async (_args, extra) => {
      const progressToken = extra._meta?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress, total: 100 };
          await extra.sendNotification({ method: 'notifications/progress', params });
        }
        await sleep(STEP_MS);
      }
      return text('done');
    },
  ],
  [
    'test_reconnection',
    async (_args, extra) => {
      // The client must reconnect for the result.
      extra.closeSSEStream?.();
      await sleep(2 * STEP_MS);
      return text('reconnected');
    },
  ],
  [
    'test_sampling',
    async ({ prompt }, extra) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: String(prompt) } }];
      const request = { method: 'sampling/createMessage' as const, params: { messages, maxTokens: 100 } };
      const { content } = await extra.sendRequest(request, CreateMessageResultSchema);
      return text(`LLM response: ${JSON.stringify(content)}`);
    },
  ],
  [
    'test_elicitation',
    ({ message }, extra) =>
      elicit(extra, String(message), {
        type: 'object',
        properties: {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        },
        required: ['username', 'email'],
      }),
  ],
  ['test_elicitation_sep1034_defaults', (_args, extra) => elicit(extra, 'Please check these values.', WITH_DEFAULTS)],
  ['test_elicitation_sep1330_enums', (_args, extra) => elicit(extra, 'Please choose.', ENUMS)],
]);

async function elicit(
  extra: Extra,
  message: string,
  requestedSchema: ElicitRequestFormParams['requestedSchema'],
): Promise<CallToolResult> {
  const request = { method: 'elicitation/create' as const, params: { message, requestedSchema } };
  const { action, content } = await extra.sendRequest(request, ElicitResultSchema);
  return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] };
}

function embedded(uri: string, mimeType: string, value: string): CallToolResult['content'][number] {
  return { type: 'resource', resource: { uri, mimeType, text: value } };
}

function unknown(name: string): McpError {
  return new McpError(ErrorCode.InvalidParams, `there is no ${name}`);
}
