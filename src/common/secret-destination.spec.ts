import { expect, it } from '@jest/globals';
import { isOtherHost } from './secret-destination.js';

it.each([
  ['https://api.example.com/v1', 'https://API.example.com:443/v2?x=1', false],
  ['https://api.example.com', 'http://api.example.com', true],
  ['https://api.example.com', 'https://api.example.com:8443', true],
  ['https://api.example.com', 'https://api.example.com.attacker.example', true],
  ['https://api.example.com', 'https://api.example.com@attacker.example', true],
  ['https://api.example.com', undefined, true],
  [undefined, undefined, false],
  ['not a URL', 'not a URL', false],
  ['not a URL', 'another one', true],
])('from %s to %s is another host: %j', (before, after, isOther) => {
  expect(isOtherHost(before, after)).toBe(isOther);
});
