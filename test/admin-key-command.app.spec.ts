import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { makeAdminKey } from '../src/cli/make-admin-key.js';
import { readArray } from '../src/common/json/read.js';
import { type CommandRun, gatewayBetweenCommands, keysIn, runOnTestDatabase } from './support/command.js';
import { GatewayClient } from './support/gateway-client.js';
import { jsonOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

function run(words?: readonly string[], settings?: Readonly<Record<string, string>>): Promise<CommandRun> {
  return runOnTestDatabase(makeAdminKey, words, settings);
}

describe('keys:admin', () => {
  const gateway = gatewayBetweenCommands();

  it.each([[[]], [['default']]])(
    'keys:admin adds a key with every scope and keeps the existing keys: %j',
    async (words) => {
      const program = await run(words);
      expect([program.stderr, program.code]).toEqual(['', 0]);
      const [key = '', ...more] = keysIn(program);
      expect(more).toEqual([]);

      const { url } = await gateway.start();
      const admin = new GatewayClient(url).as(key);
      const [made, first] = readArray(jsonOf(await admin.get('/v1/api-keys'))['data'], 'data');
      expect(made).toMatchObject({ level: 'organisation', scopes: [...SCOPES], expires_at: null });
      expect(first).toBeDefined();
      expect((await new GatewayClient(url).as(ADMIN_KEY).get('/v1/api-keys')).status).toBe(200);
      const [entry] = readArray(jsonOf(await admin.get('/v1/audit-logs'))['data'], 'data');
      expect(entry).toMatchObject({ actor_id: 'keys:admin', action: 'api_keys.create' });
    },
  );

  it.each([
    ['an organisation that is not there', ['nowhere'], {}, 'no organisation nowhere', 1],
    ['two words', ['a', 'b'], {}, 'usage: ', 2],
    ['a flag', ['--help'], {}, 'usage: ', 2],
    ['another master key', [], { TOLLGATE_ENCRYPTION_KEY: randomBytes(32).toString('base64') }, 'master key', 1],
    ['a wrong setting', [], { PORT: 'http' }, '- PORT ', 1],
  ])('keys:admin creates no key for %s', async (_what, words, settings, message, code) => {
    const program = await run(words, settings);
    expect(program.code).toBe(code);
    expect(program.stderr).toContain(message);
    expect(program.stderr).not.toMatch(/^\s+at /m);
    expect(keysIn(program)).toEqual([]);
  });

  it('keys:admin refuses an empty database, which the first start sets up', async () => {
    await (await testDatabase()).empty();
    const program = await run();
    expect(program.code).toBe(1);
    expect(program.stderr).toContain('no organisation default');
    const { url } = await gateway.start();
    expect((await new GatewayClient(url).get('/v1/api-keys')).status).toBe(200);
  });
});
