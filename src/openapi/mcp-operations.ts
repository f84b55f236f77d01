// The addresses of MCP servers. Their handlers forward whatever MCP says, so what the document says about them stands here.
import type { OpenAPIObject } from '@nestjs/swagger';
import { LOGIN_PARAM } from '../identity/authenticators/resource-metadata.js';
import type { Operation, Schema } from './document.js';
import { addErrors } from './error-responses.js';

const METADATA_PATH = '/.well-known/oauth-protected-resource/{server}/mcp';
const SECURITY: Operation['security'] = [{ gatewayKey: [] }, { bearer: [] }];

const CALL_ERRORS = [
  'validation_failed',
  'api_key_invalid',
  'token_invalid',
  'permission_denied',
  'not_found',
  'request_timeout',
  'conflict',
  'payload_too_large',
  'rate_limited',
  'provider_rejected',
  'provider_credential_rejected',
  'provider_failed',
  'provider_invalid_response',
  'secret_unavailable',
  'identity_provider_unavailable',
  'identity_forwarding_failed',
  'store_unavailable',
  'provider_timeout',
  'internal_error',
] as const;
const METADATA_ERRORS = ['not_found', 'conflict', 'store_unavailable', 'internal_error'] as const;

const SERVER = {
  name: 'server',
  in: 'path',
  required: true,
  description: 'The slug of the MCP server.',
  schema: { type: 'string' },
} as const;
const LOGIN = {
  name: LOGIN_PARAM,
  in: 'query',
  description:
    'Part of the address that the 401 of a server names to a caller with a gateway key: it stands for the identity provider of the server. A value that the gateway did not make has no effect.',
  schema: { type: 'string' },
} as const;
const SESSION = {
  name: 'mcp-session-id',
  in: 'header',
  description: 'The session, where the server has one. The server returns it with the answer to `initialize`.',
  schema: { type: 'string' },
} as const;
const REVISION = {
  name: 'mcp-protocol-version',
  in: 'header',
  description: 'The revision of MCP that the client speaks.',
  schema: { type: 'string', example: '2025-06-18' },
} as const;

const MESSAGE: Schema = {
  description: 'A JSON-RPC message of MCP.',
  type: 'object',
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'], description: 'The version of JSON-RPC.' },
    id: { oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }], description: 'Absent in a notification.' },
    method: { type: 'string', description: 'What is called. Absent in a response.' },
    params: { type: 'object', additionalProperties: true, description: 'The arguments of the method.' },
  },
  required: ['jsonrpc'],
  additionalProperties: true,
  example: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search', arguments: { query: 'keys' } } },
};

const MCP_ERROR: Schema = {
  description: 'The body of every error at the address of an MCP server.',
  type: 'object',
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'], description: 'The version of JSON-RPC.' },
    id: {
      anyOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }, { type: 'null' }],
      description: 'The id of the request; null when it is not known.',
    },
    error: {
      type: 'object',
      description: 'The error, in the form of JSON-RPC.',
      properties: {
        code: { type: 'integer', minimum: -32_768, maximum: 32_767, description: 'The code of JSON-RPC or MCP.' },
        message: { type: 'string', description: 'For people; it may change.' },
        data: {
          type: 'object',
          description: 'What `error` has in other responses of the gateway: `code`, `source`, `param` and `details`.',
          additionalProperties: true,
        },
      },
      required: ['code', 'message'],
    },
  },
  required: ['jsonrpc', 'id', 'error'],
};

const RESOURCE_METADATA: Schema = {
  description: 'Where a user logs in to call the MCP server (RFC 9728).',
  type: 'object',
  properties: {
    resource: { type: 'string', format: 'uri', description: 'The address of the MCP server at the gateway.' },
    authorization_servers: {
      type: 'array',
      items: { type: 'string', format: 'uri' },
      description: 'Issuers of the tokens that the server accepts.',
    },
    bearer_methods_supported: { type: 'array', items: { type: 'string' }, description: 'How a token is sent.' },
    scopes_supported: { type: 'array', items: { type: 'string' }, description: 'Scopes to ask for.' },
  },
  required: ['resource', 'authorization_servers', 'bearer_methods_supported'],
};

const MESSAGES = {
  'application/json': { schema: { $ref: '#/components/schemas/McpMessage' } },
  'text/event-stream': { schema: { type: 'string' } },
} as const;
const EVENTS = { 'text/event-stream': { schema: { type: 'string' } } } as const;

/** Adds the operations of MCP servers. Call it last, because they have errors of their own. */
export function addMcpOperations(document: OpenAPIObject): void {
  const schemas = ((document.components ??= {}).schemas ??= {});
  Object.assign(schemas, {
    McpMessage: MESSAGE,
    McpErrorResponse: MCP_ERROR,
    ProtectedResourceMetadata: RESOURCE_METADATA,
  });
  const post = mcpOperation('sendMcpMessage', 'Sends a message to an MCP server.', {
    200: { description: "The server's answer: one message, or a stream of events.", content: MESSAGES },
    202: { description: 'The server accepted a notification or a response.' },
  });
  post.requestBody = {
    required: true,
    description: 'Passed to the server byte for byte.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/McpMessage' } } },
  };
  const get = mcpOperation('openMcpStream', 'Opens a stream of messages from an MCP server.', {
    200: { description: "The server's messages as events.", content: EVENTS },
  });
  const end = mcpOperation('endMcpSession', 'Ends a session of an MCP server.', {
    200: { description: 'The session has ended.' },
    204: { description: 'The session has ended.' },
  });
  for (const operation of [post, get, end]) addErrors(document, operation, CALL_ERRORS);
  document.paths['/{server}/mcp'] = { post, get, delete: end };

  const metadata = metadataOperation();
  addErrors(document, metadata, METADATA_ERRORS);
  document.paths[METADATA_PATH] = { get: metadata };
}

function metadataOperation(): Operation {
  return {
    operationId: 'retrieveMcpResourceMetadata',
    tags: ['MCP'],
    summary: 'Retrieves where a user logs in to call an MCP server.',
    description:
      'Needs no key. The same for every name, unless a server advertises its issuer (`jwt_validation.advertise_issuer`). 404 where there is nowhere to log in.',
    security: [],
    parameters: [SERVER, LOGIN],
    responses: {
      200: {
        description: 'The metadata of the protected resource.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ProtectedResourceMetadata' } } },
      },
      default: errorOf('ErrorResponse'),
    },
  };
}

function mcpOperation(operationId: string, summary: string, responses: Operation['responses']): Operation {
  return {
    operationId,
    tags: ['MCP'],
    summary,
    description: "Needs the scope `mcp.invoke`, or a user's token where the server accepts one.",
    security: SECURITY,
    parameters: [SERVER, SESSION, REVISION],
    responses: { ...responses, default: errorOf('McpErrorResponse') },
  };
}

function errorOf(schema: string): Operation['responses'][string] {
  return {
    description: 'Any other error. The description of this document lists all codes.',
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}
