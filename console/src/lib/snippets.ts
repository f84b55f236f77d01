/** What a snippet needs to know. */
export interface SnippetFacts {
  /** Address of the gateway. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** Of the MCP server, through the gateway. */
  readonly server: { readonly name: string; readonly url: string };
}

type Snippets = Readonly<Record<string, (facts: SnippetFacts) => string>>;

/** How programs call models with a key. Each bounds its output: a strict limit refuses calls that leave it open. */
export const MODEL_SNIPPETS: Snippets = {
  curl: ({ url, key, model }) =>
    `curl ${url}/v1/chat/completions \\\n  -H "authorization: Bearer ${key}" -H 'content-type: application/json' \\\n  -d ${inShell(`{"model": ${JSON.stringify(model)}, "max_tokens": 100, "messages": [{"role": "user", "content": "Hello"}]}`)}`,
  'OpenAI SDK': ({ url, key, model }) =>
    `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' });\nconst answer = await client.chat.completions.create({\n  model: ${JSON.stringify(model)},\n  max_tokens: 100,\n  messages: [{ role: 'user', content: 'Hello' }],\n});\nconsole.log(answer.choices[0].message.content);`,
  'Anthropic SDK': ({ url, key, model }) =>
    `import Anthropic from '@anthropic-ai/sdk';\n\nconst client = new Anthropic({ baseURL: '${url}', apiKey: '${key}' });\nconst answer = await client.messages.create({\n  model: ${JSON.stringify(model)},\n  max_tokens: 100,\n  messages: [{ role: 'user', content: 'Hello' }],\n});\nconsole.log(answer.content);`,
  'Claude Code': ({ url, key, model }) =>
    `export ANTHROPIC_BASE_URL=${url}\nexport ANTHROPIC_AUTH_TOKEN=${key}\nclaude --model ${inShell(model)}`,
  Codex: ({ url, key, model }) =>
    `export TOLLGATE_KEY=${key}\ncodex --config model_provider=tollgate \\\n  --config 'model_providers.tollgate={name="Tollgate", base_url="${url}/v1", env_key="TOLLGATE_KEY", wire_api="responses"}' \\\n  --model ${inShell(model)}`,
  Cursor: ({ url, key }) =>
    `Settings → Models → API Keys\n  OpenAI API Key: ${key}\n  Override OpenAI Base URL: ${url}/v1`,
};

/** How programs call the tools of an MCP server with a key. */
export const MCP_SNIPPETS: Snippets = {
  'MCP in Claude Code': ({ key, server }) =>
    `claude mcp add --transport http ${server.name} ${server.url} \\\n  --header "x-gateway-api-key: ${key}"`,
  'mcp.json': ({ key, server }) =>
    JSON.stringify(
      { mcpServers: { [server.name]: { type: 'http', url: server.url, headers: { 'x-gateway-api-key': key } } } },
      null,
      2,
    ),
};

/** Names may have characters that a shell would read as its own. */
function inShell(text: string): string {
  return /^[\w@/:.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
