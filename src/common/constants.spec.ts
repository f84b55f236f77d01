import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { VERSION } from './constants.js';

it('VERSION equals the version of the package', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({ version: VERSION });
});
