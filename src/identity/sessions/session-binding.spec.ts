import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SessionBinding } from './session-binding.js';

const SECRET = Buffer.alloc(32, 1);
const NEXT = Buffer.alloc(32, 2);
const ALICE = { serverId: 'server-1', serverOrigin: 'https://tools.example.com', user: 'alice' };
const binding = new SessionBinding([SECRET]);
const UUID = '6b8f0c9e-2a63-4a31-9d5a-7d3e1b2c4f50';

function bound(sessionId: string, owner = ALICE, by = binding): string {
  const id = by.bind(sessionId, owner);
  if (id === undefined) throw new Error('not bound');
  return id;
}

describe('SessionBinding', () => {
  it("binds an id as the server's id and 32 hexadecimal digits", () => {
    expect(bound(UUID)).toMatch(new RegExp(`^${UUID}-[0-9a-f]{32}$`));
    expect(bound(UUID)).toHaveLength(69);
  });

  it('binds an id to the same text on every replica', () => {
    expect(bound(UUID, ALICE, new SessionBinding([Buffer.from(SECRET)]))).toBe(bound(UUID));
  });

  it('accepts an id of its owner', () => expect(binding.unbind(bound(UUID), ALICE)).toBe(UUID));

  it.each([1, 1_025, 4_096])('accepts an id of %d characters, since some servers keep the session in it', (length) => {
    const id = bound('x'.repeat(length));
    expect(id).toHaveLength(length + 33);
    expect(binding.unbind(id, ALICE)).toBe('x'.repeat(length));
    expect(binding.unbind(id, { ...ALICE, user: 'bob' })).toBeUndefined();
  });

  it('accepts every id that the protocol allows', () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
    });
    fc.assert(
      fc.property(visible, fc.string(), (sessionId, user) => {
        const owner = { ...ALICE, user };
        expect(binding.unbind(bound(sessionId, owner), owner)).toBe(sessionId);
      }),
    );
  });

  it.each<readonly [string, string, Partial<typeof ALICE>]>([
    ['another user', bound(UUID), { user: 'bob' }],
    ['another server', bound(UUID), { serverId: 'server-2' }],
    ['another origin of the server', bound(UUID), { serverOrigin: 'https://tools.example.com:8443' }],
    ['the id of the server as it is', UUID, {}],
    ['a tag that was cut', bound(UUID).slice(0, -1), {}],
    ['a tag that was cut by a byte', bound(UUID).slice(0, -2), {}],
    ['a tag that was changed', bound(UUID).replace(/.$/, (digit) => (digit === '0' ? '1' : '0')), {}],
    ['a tag in capitals', bound(UUID).toUpperCase(), {}],
    ['the tag of another session', `${randomUUID()}${bound(UUID).slice(-33)}`, {}],
    ['no id before the tag', bound(UUID).slice(-33), {}],
    ['nothing', '', {}],
    ['a line break after it', `${bound(UUID)}\n`, {}],
    ['a line break in it', bound(UUID).replace('-', '\n'), {}],
    ['two tags', `${bound(UUID)}${bound(UUID).slice(-33)}`, {}],
  ])('refuses an id for %s', (_what, id, change) => {
    expect(binding.unbind(id, { ...ALICE, ...change })).toBeUndefined();
  });

  it('accepts an id again, and still refuses it to other users', () => {
    const id = bound(UUID);
    for (let time = 0; time < 2; time += 1) {
      expect(binding.unbind(id, ALICE)).toBe(UUID);
      expect(binding.unbind(id, { ...ALICE, user: 'bob' })).toBeUndefined();
      expect(binding.unbind(id, { ...ALICE, serverId: 'server-2' })).toBeUndefined();
      expect(binding.unbind(id, { ...ALICE, serverOrigin: 'https://other.example.com' })).toBeUndefined();
      expect(binding.unbind(`${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`, ALICE)).toBeUndefined();
      expect(binding.unbind(UUID, ALICE)).toBeUndefined();
    }
  });

  it('does not confuse the parts of an owner', () => {
    const one = { ...ALICE, serverId: 'a', user: 'b\nc' };
    const other = { ...ALICE, serverId: 'a\nb', user: 'c' };
    expect(binding.unbind(bound(UUID, one), other)).toBeUndefined();
    expect(binding.unbind(bound('x","y', one), { ...ALICE, serverId: 'a', user: 'b\nc","x' })).toBeUndefined();
  });
});

it('SessionBinding accepts an id without an origin, of an older version, from its owner alone', () => {
  const hmac = createHmac('sha256', SECRET).update(JSON.stringify([ALICE.serverId, ALICE.user, UUID]));
  const id = `${UUID}-${hmac.digest('hex').slice(0, 32)}`;
  expect(binding.unbind(id, ALICE)).toBe(UUID);
  expect(new SessionBinding([NEXT, SECRET]).unbind(id, ALICE)).toBe(UUID);
  expect(binding.unbind(id, { ...ALICE, user: 'bob' })).toBeUndefined();
  expect(binding.unbind(id, { ...ALICE, serverId: 'server-2' })).toBeUndefined();
});

describe('SessionBinding with an id of a server', () => {
  it.each(['', ' ', 'a b', 'a\n', 'é', '\u007f', 'x'.repeat(4_097)])('does not bind the invalid id %j', (sessionId) => {
    expect(binding.bind(sessionId, ALICE)).toBeUndefined();
  });
});

describe('SessionBinding with a new secret', () => {
  const rotated = new SessionBinding([NEXT, SECRET]);

  it('still accepts ids of the old secret', () => expect(rotated.unbind(bound(UUID), ALICE)).toBe(UUID));

  it('binds new ids with the new secret', () => {
    expect(bound(UUID, ALICE, rotated)).toBe(bound(UUID, ALICE, new SessionBinding([NEXT])));
    expect(binding.unbind(bound(UUID, ALICE, rotated), ALICE)).toBeUndefined();
  });

  it('accepts the ids of all replicas when the new secret is first added at the end, then moved to the front', () => {
    const steps = [binding, new SessionBinding([SECRET, NEXT]), rotated];
    const opens = steps.map((of, step) => {
      // Replicas of one step, or of two that follow each other, work at the same time.
      const others = steps.slice(Math.max(0, step - 1), step + 2);
      return others.every((by) => of.unbind(bound(UUID, ALICE, by), ALICE) === UUID);
    });
    expect(opens).toEqual([true, true, true]);
  });

  it('refuses ids of the old secret once it is removed', () => {
    expect(new SessionBinding([NEXT]).unbind(bound(UUID), ALICE)).toBeUndefined();
  });
});
