import { expect, it } from '@jest/globals';
import { DocumentBuilder } from '@nestjs/swagger';
import { addMcpOperations } from './mcp-operations.js';

it('documents the query parameter of the addresses that the 401 of an MCP server names', () => {
  const document = { ...new DocumentBuilder().build(), paths: {} };
  addMcpOperations(document);
  expect(document.paths).toMatchObject({
    '/.well-known/oauth-protected-resource/{server}/mcp': {
      get: {
        parameters: [
          { name: 'server', in: 'path' },
          { name: 'login', in: 'query' },
        ],
      },
    },
  });
});
