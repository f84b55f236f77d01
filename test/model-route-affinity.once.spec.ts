// Calls of one session keep their target, and with it the prompt cache of its provider, also while another target is down.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FakeProvider, type Reply, startFakeProvider, text } from './support/fake-provider.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const ANSWER = '{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}';
const GOOD: Reply = text(ANSWER, 'application/json');
const DOWN: Reply = (response) => response.destroy();
const TARGETS = 4;
const SESSIONS = 40;
const ROUNDS = 3;

type Names = (session: string) => { readonly headers?: Readonly<Record<string, string>>; readonly body?: object };

/** The ways in which a call says what it belongs to. */
const WAYS: readonly (readonly [string, Names])[] = [
  ['x-gateway-session', (session) => ({ headers: { 'x-gateway-session': session } })],
  ['metadata.session', (session) => ({ headers: { 'x-gateway-metadata': JSON.stringify({ session }) } })],
  ['prompt_cache_key', (session) => ({ body: { prompt_cache_key: session } })],
];

let gateway: UsageGateway;
let providers: readonly FakeProvider[];

beforeAll(async () => {
  gateway = await startUsageGateway();
  providers = await Promise.all(Array.from({ length: TARGETS }, startFakeProvider));
});
afterAll(async () => {
  await gateway.close();
  await Promise.all(providers.map((provider) => provider.close()));
});

describe('the calls of a session', () => {
  it.each(WAYS)('named by %s stay at one of four targets, also when another one dies', async (way, names) => {
    for (const provider of providers) provider.replyWith(GOOD);
    const targets = providers.map(async ({ url }) => {
      const virtual_key = await gateway.virtualKey('openai-compatible', { config: { base_url: url } });
      return { virtual_key, model: 'm', weight: 1 };
    });
    const model = `sessions by ${way}`;
    await gateway.admin.create('/v1/model-routes', { name: model, targets: await Promise.all(targets) });
    const targetOf = async (session: number): Promise<string> => {
      const { headers, body } = names(`session ${session}`);
      const chat = { model, max_tokens: 1, messages: [], ...body };
      const answer = await gateway.admin.post('/v1/chat/completions', chat, headers);
      expect(answer.status).toBe(200);
      return String(answer.headers['x-gateway-virtual-key-used']);
    };
    const rounds = async (): Promise<readonly ReadonlySet<string>[]> => {
      const used = Array.from({ length: SESSIONS }, () => new Set<string>());
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [session, seen] of used.entries()) seen.add(await targetOf(session));
      return used;
    };

    const before = await rounds();
    expect(before.map(({ size }) => size)).toEqual(Array(SESSIONS).fill(1));
    expect(new Set(before.flatMap((seen) => [...seen])).size).toBe(TARGETS);

    providers[0]?.replyWith(DOWN);
    const dead = (await Promise.all(targets))[0]?.virtual_key ?? '';
    const during = await rounds();
    // Those of the dead target move together, and all others stay.
    expect(during.map(({ size }) => size)).toEqual(Array(SESSIONS).fill(1));
    expect(during.filter((seen) => seen.has(dead))).toEqual([]);
    expect(
      during.filter((seen, session) => before[session]?.has(dead) !== true && !isSame(seen, before[session])),
    ).toEqual([]);
  });
});

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string> | undefined): boolean {
  return [...one].every((each) => other?.has(each) === true);
}
