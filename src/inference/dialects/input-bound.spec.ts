import { describe, expect, it } from '@jest/globals';
import type { ModelFacts } from '../../usage/models/model-catalogue.js';
import { inputBound } from './input-bound.js';

const SMALL: ModelFacts = {
  contextWindow: 1_000,
  maxOutput: 100,
  inputModalities: ['text'],
  outputModalities: ['text'],
  source: 'https://models.example',
  readOn: '2026-11-26',
};

function boundOf(body: unknown, known?: ModelFacts): number | undefined {
  return inputBound(Buffer.from(JSON.stringify(body)), known);
}

function image(url: string): object {
  return { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] };
}

describe('inputBound', () => {
  it('is at least the bytes of the body', () => {
    const text = '語'.repeat(100);
    expect(boundOf({ messages: [{ content: text }] })).toBeGreaterThan(300);
  });

  it('is at most the context window of a known model', () => {
    expect(boundOf({ messages: ['x'.repeat(5_000)] }, SMALL)).toBe(1_000);
    expect(boundOf({ messages: [] }, SMALL)).toBeLessThan(100);
  });

  it('counts an image by itself, and not by its bytes', () => {
    const bound = boundOf(image(`data:image/png;base64,${'A'.repeat(1_000_000)}`)) ?? 0;
    expect(bound).toBeGreaterThanOrEqual(50_000);
    expect(bound).toBeLessThan(51_000);
    expect(boundOf(image('https://images.example/1.png'))).toBeGreaterThanOrEqual(50_000);
  });

  it.each([
    ['in a text', { content: `"url":"data:image/png;base64,${'word '.repeat(10_000)}` }],
    ['as a whole text', { text: `data:image/png;base64,${'word '.repeat(10_000)}` }],
    ['under another name', { uri: `data:image/png;base64,${'word '.repeat(10_000)}` }],
  ])('counts the bytes of what only looks like an image, %s', (_where, part) => {
    expect(boundOf({ messages: [part] })).toBeGreaterThan(50_000);
  });

  it.each(['file_id', 'file_data', 'video_url'])('has none for %s at an unknown model', (name) => {
    const body = { messages: [{ content: [{ [name]: 'f-1' }] }] };
    expect([boundOf(body), boundOf(body, SMALL)]).toEqual([undefined, 1_000]);
  });

  it('adds what a model reads about tools', () => {
    expect((boundOf({ tools: [] }) ?? 0) - (boundOf({ tooks: [] }) ?? 0)).toBe(1_500);
  });
});
