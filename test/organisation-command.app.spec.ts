import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createOrganisation } from '../src/cli/create-organisation.js';
import { type CommandRun, gatewayBetweenCommands, keysIn, runOnTestDatabase } from './support/command.js';
import { GatewayClient } from './support/gateway-client.js';
import { testDatabase } from './support/test-database.js';

function run(...words: readonly string[]): Promise<CommandRun> {
  return runOnTestDatabase(createOrganisation, words);
}

describe('organisations:create', () => {
  const gateway = gatewayBetweenCommands();

  it('organisations:create adds an isolated organisation with a workspace and an admin key', async () => {
    const program = await run('acme', 'Acme Corporation');
    expect([program.stderr, program.code]).toEqual(['', 0]);
    const [key = '', ...more] = keysIn(program);
    expect(more).toEqual([]);

    const { url } = await gateway.start();
    const acme = new GatewayClient(url).as(key);
    const first = new GatewayClient(url);
    const [workspace, ...others] = await acme.list('/v1/workspaces');
    expect([workspace, others]).toEqual([expect.objectContaining({ slug: 'default', name: 'Default' }), []]);
    expect(await acme.list('/v1/virtual-keys')).toEqual([]);
    expect((await first.list('/v1/workspaces')).map(({ id }) => id)).not.toContain(workspace?.['id']);
    const [entry] = await acme.list('/v1/audit-logs');
    expect(entry).toMatchObject({ actor_id: 'organisations:create', action: 'api_keys.create' });
    expect(program.stdout).toContain(`Organisation acme (${String(workspace?.['organisation_id'])})`);
  });

  it('organisations:create refuses an existing slug and creates no key', async () => {
    const slug = `o-${randomUUID()}`;
    expect(keysIn(await run(slug))).toHaveLength(1);
    const again = await run(slug);
    expect([again.stderr, again.code]).toEqual([`There is an organisation ${slug} already.\n`, 1]);
    expect(keysIn(again)).toEqual([]);
  });

  it.each([
    ['no arguments', []],
    ['a flag', ['--help']],
    ['a name without quotes', ['acme', 'Acme', 'Corporation']],
    ['an empty name', ['acme', '']],
    ['a name of spaces', ['acme', '   ']],
    ['a name with control characters', ['acme', 'A\u0001me']],
    ['a slug with a space', ['a b']],
    ['a slug that is too long', ['a'.repeat(256)]],
  ])('organisations:create prints its usage for %s', async (_what, words) => {
    const program = await run(...words);
    expect([program.code, program.stdout]).toEqual([2, '']);
    expect(program.stderr).toContain('usage: npm run organisations:create');
  });

  it('organisations:create refuses an empty database, which the first start sets up', async () => {
    await (await testDatabase()).empty();
    const program = await run('acme');
    expect(program.code).toBe(1);
    expect(program.stderr).toContain('the first start of the gateway makes one');
    const { url } = await gateway.start();
    expect((await new GatewayClient(url).get('/v1/api-keys')).status).toBe(200);
  });
});
