// What the OpenAPI document says about the API as a whole.
import { DocumentBuilder, type OpenAPIObject } from '@nestjs/swagger';
import { ErrorResponse } from '../common/errors/error.response.js';
import { renderErrorsDoc } from '../common/errors/render-errors-doc.js';
import { VERSION } from '../common/constants.js';

/**
 * In 3.1 schemas are JSON Schema: "or null" is one of the types, or one `anyOf`, which validators and client generators read
 * alike. In 3.0 `nullable` has no effect beside an `enum` without null or an `allOf`, so strict validators reject nulls that the
 * gateway returns.
 */
const OPENAPI_VERSION = '3.1.0';

const INTRODUCTION = `Tollgate is an open, self-hosted gateway between applications or agents and AI providers or MCP servers.

**Authentication.** Send a gateway API key in \`x-gateway-api-key\`, as \`Authorization: Bearer\`, or in the header of a client (\`x-api-key\`, \`api-key\`). Administrators may send an OIDC token
instead. Operations that call a provider also need a virtual key: its slug in
\`x-gateway-virtual-key\`, or before the model (\`@slug/model\`), or the \`default_virtual_key\` of the API key.

**Names.** Every \`x-gateway-*\` request header is also accepted as \`x-portkey-*\`. \`operationId\`s are part of the API: they change only
in a new major version.

**Updates.** PUT and PATCH are both partial: a field that is left out stays as it is.

**Tracing.** Every response has the header \`x-gateway-trace-id\`, which finds the request in the log.

**Left out of this document.** Gemini's own API is at \`POST /v1beta/models/{model}:generateContent\`, \`:streamGenerateContent\`,
\`:countTokens\`, \`:embedContent\` and \`:batchEmbedContents\`, Vertex AI's at \`POST /v1/projects/{project}/locations/{location}/publishers/{publisher}/models/{model}:…\`.
\`POST /v2/rerank\` and \`POST /rerank\` are \`POST /v1/rerank\` at the addresses that other clients use;
all three also know options of other rerank APIs, which are left out with a warning. MCP servers also have addresses with their
workspace, \`/{workspace}/{server}/mcp\`, and the older SSE transport at \`/{server}/sse\`. \`GET /metrics\` serves Prometheus.
`;

const TAGS: readonly (readonly [name: string, description: string])[] = [
  ['Rerank', 'Order documents by their relevance to a query.'],
  ['Model routes', 'Names of models that lead to models of virtual keys.'],
  [
    'Inference',
    "Chats, responses, messages, completions and embeddings, and Bedrock's own API, relayed byte for byte.",
  ],
  ['Batches', "Run many requests as one job at the provider, in the form of OpenAI's Batch API."],
  ['Files', 'Upload and download the files that batches and fine-tuning jobs use.'],
  ['Uploads', 'Upload large files in parts.'],
  ['Fine-tuning', "Train a model on your own examples, in the form of OpenAI's fine-tuning API."],
  ['Assistants', "Threads, messages and runs, in the form of OpenAI's Assistants API, version 2."],
  ['Vector stores', "Files that assistants search, in the form of OpenAI's vector stores."],
  ['Virtual keys', 'A provider, a credential for it and options, under a name that clients send.'],
  ['Secret references', 'Secrets that stay in AWS Secrets Manager, Azure Key Vault or HashiCorp Vault.'],
  ['Usage limits', 'Policies that cap what calls may cost, or how many tokens they may use.'],
  ['Overview', 'What calls have used lately, and what needs attention.'],
  ['Usage', 'Reports of what calls have used.'],
  ['Logs', 'One entry for each call.'],
  ['Prices', 'What a unit of a model costs.'],
  ['Model catalogue', 'What models of providers can read and write.'],
  ['Webhooks', 'Endpoints that receive signed events.'],
  ['MCP servers', 'MCP servers that clients reach through the gateway, and who may call which tool.'],
  ['MCP', 'The addresses that MCP clients and MCP servers use. They speak MCP, not this REST API.'],
  ['Caller', 'Shows the caller itself: its scopes, workspaces and organisations.'],
  ['Sessions', 'Browsers that are logged in, as the console is: with an API key, or at the identity provider.'],
  ['Members', 'People who are logged in, and the groups that give them roles.'],
  ['API keys', 'Gateway keys of applications, agents and users.'],
  ['Workspaces', 'Parts of an organisation, each with its own keys, policies and MCP servers.'],
  ['Audit log', 'Who changed what, and when.'],
  ['Health', 'Probes for the platform that runs the gateway.'],
];

/** @param publicUrl address of the API; without it, the host that serves the document */
export function documentInfo(publicUrl: string | undefined): Omit<OpenAPIObject, 'paths'> {
  const builder = new DocumentBuilder()
    .setTitle('Tollgate API')
    .setDescription(`${INTRODUCTION}\n${renderErrorsDoc()}`)
    .setVersion(VERSION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setOpenAPIVersion(OPENAPI_VERSION)
    .addServer(publicUrl === undefined ? '/' : publicUrl.replace(/\/+$/, ''), 'This gateway.')
    .addApiKey(
      {
        type: 'apiKey',
        in: 'header',
        name: 'x-gateway-api-key',
        description: 'A gateway API key. Its scopes decide which operations it may call.',
      },
      'gatewayKey',
    )
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        description: "A gateway API key, or an administrator's OIDC token where the operation accepts one.",
      },
      'bearer',
    )
    .addGlobalResponse({
      status: 'default',
      description: 'Any other error. The description of this document lists all codes.',
      type: ErrorResponse,
    });
  for (const [name, description] of TAGS) builder.addTag(name, description);
  const document = builder.build();
  // The builder's setContact() wants an address, and the project has none.
  return { ...document, info: { ...document.info, contact: { name: 'The Tollgate project' } } };
}
