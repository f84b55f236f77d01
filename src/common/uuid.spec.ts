import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { isUuid } from './uuid.js';

it('knows UUIDs in small and capital letters', () => {
  const id = randomUUID();
  expect(isUuid(id)).toBe(true);
  expect(isUuid(id.toUpperCase())).toBe(true);
});

it.each([
  '',
  'local',
  '0',
  `${randomUUID()}\n`,
  ` ${randomUUID()}`,
  randomUUID().replaceAll('-', ''),
  `{${randomUUID()}}`,
])('takes other references for slugs', (text) => expect(isUuid(text)).toBe(false));
