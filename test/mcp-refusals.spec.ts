// What clients of MCP servers get to read when the gateway refuses: JSON-RPC, with the reason, for pages too.
import { describe, expect, it } from '@jest/globals';
import { readObject } from '../src/common/json/read.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { type Answer, jsonOf } from './support/send.js';

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };
const COMPRESSED = 'The request body must not be compressed.';

const mcp = rawMcpGateway();

/** The code, field and sentence of a refusal, which must be JSON-RPC. */
function refusalOf(answer: Answer): object {
  const { jsonrpc, id, error } = jsonOf(answer);
  const { message, data } = readObject(error, 'error');
  const { code, param } = readObject(data, 'error.data');
  return { status: answer.status, jsonrpc, id, code, param, message };
}

describe('a body in another form than plain JSON', () => {
  it.each([
    [{ 'content-encoding': 'gzip' }, COMPRESSED],
    [{ 'content-type': 'application/json; charset=latin1' }, 'The request body must be in UTF-8.'],
    [{ 'content-type': 'text/plain' }, 'The request body must be JSON (content-type: application/json).'],
  ])('is refused with the reason: %j', async (headers, message) => {
    const slug = await mcp.register();
    const answer = await mcp.call(`/${slug}/mcp`, PING, headers);
    expect(refusalOf(answer)).toMatchObject({ status: 415, code: 'unsupported_media_type', message });
    expect(mcp.raw.received).toEqual([]);
  });

  it('is refused in the words of every other JSON route', async () => {
    const answer = await mcp.admin.post('/v1/mcp-servers', {}, { 'content-encoding': 'gzip' });
    expect(jsonOf(answer)).toMatchObject({ error: { message: COMPRESSED } });
  });
});
