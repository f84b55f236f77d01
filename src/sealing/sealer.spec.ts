import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../test/support/any-character.js';
import { KeyRing, type MasterKey, parseMasterKey } from './key-ring.js';
import { SealError, type SealedPlace, Sealer } from './sealer.js';

const OLD = masterKey(1);
const NEW = masterKey(2);
const PLACE: SealedPlace = { organisationId: 'org-1', table: 'virtual_keys', rowId: 'row-1', field: 'sealed_key' };

const before = new Sealer(new KeyRing(OLD));
const during = new Sealer(new KeyRing(NEW, [OLD]));
const after = new Sealer(new KeyRing(NEW));

function masterKey(fill: number): MasterKey {
  return parseMasterKey(Buffer.alloc(32, fill).toString('base64'));
}

/** `v1.<master key id>.<wrapped data key>.<ciphertext>` with one of the four parts replaced. */
function withPart(sealed: string, index: number, change: (part: string) => string): string {
  return sealed
    .split('.')
    .map((part, at) => (at === index ? change(part) : part))
    .join('.');
}

function flipBit(part: string, byte: number): string {
  const bytes = Buffer.from(part, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(byte) ^ 1, byte);
  return bytes.toString('base64url');
}

describe('seal', () => {
  it('opens every text that it sealed', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => before.open(before.seal(text, PLACE), PLACE) === text),
    );
  });

  it('names the master key and shows nothing of the sealed text', () => {
    const sealed = before.seal('sk-very-secret', PLACE);
    expect(sealed).toMatch(new RegExp(`^v1\\.${OLD.id}\\.[\\w-]+\\.[\\w-]+$`));
    for (const part of sealed.split('.')) expect(Buffer.from(part, 'base64url').toString()).not.toContain('secret');
  });

  it('never makes the same value twice, so that equal secrets do not look equal', () => {
    expect(before.seal('same', PLACE)).not.toBe(before.seal('same', PLACE));
  });

  it('seals with the current master key and not a previous one', () => {
    expect(during.seal('text', PLACE).split('.')[1]).toBe(NEW.id);
  });
});

describe('open', () => {
  const sealed = before.seal('sk-very-secret', PLACE);

  it('opens values of a previous master key', () => expect(during.open(sealed, PLACE)).toBe('sk-very-secret'));

  it.each([
    ['tenant', { ...PLACE, organisationId: 'org-2' }],
    ['table', { ...PLACE, table: 'secret_references' }],
    ['row', { ...PLACE, rowId: 'row-2' }],
    ['field', { ...PLACE, field: 'sealed_options' }],
    ['split of the same letters', { ...PLACE, organisationId: 'org-', table: '1virtual_keys' }],
  ])('refuses a value that was copied to another %s', (_what, place) => {
    expect(() => before.open(sealed, place)).toThrow(SealError);
  });

  it('refuses a master key that it was not given, and names it', () => {
    expect(() => after.open(sealed, PLACE)).toThrow(SealError);
    expect(() => after.open(sealed, PLACE)).toThrow(OLD.id);
  });

  it('refuses a value whose label was changed to another master key', () => {
    expect(() =>
      during.open(
        withPart(sealed, 1, () => NEW.id),
        PLACE,
      ),
    ).toThrow(SealError);
  });

  it.each([2, 3])('refuses a single flipped bit anywhere in part %i', (index) => {
    const length = Buffer.from(sealed.split('.')[index] ?? '', 'base64url').length;
    for (let byte = 0; byte < length; byte += 1) {
      const damaged = withPart(sealed, index, (part) => flipBit(part, byte));
      expect(() => before.open(damaged, PLACE)).toThrow(SealError);
    }
  });

  it('refuses the data key of another value in the same place', () => {
    const wrapped = before.seal('other', PLACE).split('.')[2] ?? '';
    expect(() =>
      before.open(
        withPart(sealed, 2, () => wrapped),
        PLACE,
      ),
    ).toThrow(SealError);
  });

  it.each([
    '',
    'plain text',
    'v1',
    sealed.replace('v1', 'v2'),
    `${sealed}.more`,
    sealed.split('.').slice(0, 3).join('.'),
    withPart(sealed, 2, () => ''),
    withPart(sealed, 3, () => ''),
    withPart(sealed, 3, (part) => part.slice(0, 12)),
    withPart(sealed, 3, (part) => part.slice(0, -4)),
  ])('refuses a value in another form: %j', (text) => {
    expect(() => before.open(text, PLACE)).toThrow(SealError);
  });

  it('shows nothing of the value in its error', () => {
    const messageOf = (text: string): string => {
      try {
        return before.open(text, PLACE);
      } catch (error) {
        return String(error);
      }
    };
    expect(messageOf('sk-not-sealed')).not.toContain('sk-not-sealed');
    expect(messageOf(withPart(sealed, 3, (part) => flipBit(part, 20)))).not.toContain('secret');
  });
});

describe('rewrap', () => {
  const sealed = before.seal('sk-very-secret', PLACE);

  it('rewraps a value so that it needs the new master key only', () => {
    const rewrapped = during.rewrap(sealed, PLACE) ?? '';
    expect(after.open(rewrapped, PLACE)).toBe('sk-very-secret');
    expect(() => before.open(rewrapped, PLACE)).toThrow(SealError);
  });

  it('wraps the data key again and leaves the value as it is', () => {
    const [, , wrapped, body] = (during.rewrap(sealed, PLACE) ?? '').split('.');
    expect(body).toBe(sealed.split('.')[3]);
    expect(wrapped).not.toBe(sealed.split('.')[2]);
  });

  it('changes nothing when it rewraps a second time', () => {
    expect(during.rewrap(during.rewrap(sealed, PLACE) ?? '', PLACE)).toBeUndefined();
  });

  it('keeps a rewrapped value bound to its place', () => {
    const rewrapped = during.rewrap(sealed, PLACE) ?? '';
    expect(() => after.open(rewrapped, { ...PLACE, rowId: 'row-2' })).toThrow(SealError);
  });

  it('refuses to rewrap a value from another place, of an unknown master key or with a damaged data key', () => {
    expect(() => during.rewrap(sealed, { ...PLACE, rowId: 'row-2' })).toThrow(SealError);
    expect(() => after.rewrap(sealed, PLACE)).toThrow(SealError);
    expect(() =>
      during.rewrap(
        withPart(sealed, 2, (part) => flipBit(part, 0)),
        PLACE,
      ),
    ).toThrow(SealError);
  });
});
