import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const start = /"start": "(.+)"/.exec(read('package.json'))?.[1] ?? '';
const dockerfile = read('Dockerfile');

function matches(text: string, pattern: RegExp): readonly (string | undefined)[] {
  return [...text.matchAll(pattern)].map((match) => match[1]);
}

it('runs the gateway with the same flags in `npm start` and in the image', () => {
  const command = /^CMD .+$/m.exec(dockerfile)?.[0] ?? '';
  expect(matches(start, /(--[\w=-]+)/g)).toEqual(matches(command, /(--[\w=-]+)/g));
  const threads = matches(start, /UV_THREADPOOL_SIZE:-(\d+)/g);
  expect(threads).toEqual(['16']);
  expect(matches(dockerfile, /^ENV UV_THREADPOOL_SIZE=(\d+)$/gm)).toEqual(threads);
});
