import { Worker, type WorkerOptions } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import fc from 'fast-check';
import { eventually } from '../../../test/support/eventually.js';
import type { Encoding } from './encodings.js';
import { TokenCounter } from './token-counter.js';
import { cpuTimeOf } from '../../../test/support/cpu-time.js';

const warnings: unknown[] = [];
const counter = new TokenCounter({ warn: (line: unknown) => void warnings.push(line) });
const PROSE = 'The quick brown fox jumps over the lazy dog, and then it sleeps.\n';

beforeAll(async () => {
  await started('o200k_base');
  await started('cl100k_base');
});
afterAll(() => counter.beforeApplicationShutdown());

/** Its first thread never becomes ready. */
class HangingCounter extends TokenCounter {
  threads = 0;

  protected override newThread(options: WorkerOptions): Worker {
    this.threads += 1;
    if (this.threads > 1) return super.newThread(options);
    return new Worker("require('node:worker_threads').parentPort.on('message', () => {})", { eval: true });
  }
}

function chat(content: string): Buffer {
  return Buffer.from(JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }));
}

/** A busy machine may take longer to start the thread than a call waits. */
async function started(encoding: Encoding): Promise<void> {
  await eventually(async () => (await counter.savedTokens('o', chat(PROSE), encoding)) !== undefined);
}

async function tokensOf(content: string): Promise<number> {
  const saved = await counter.savedTokens('o', chat(content), 'o200k_base');
  return Buffer.byteLength(JSON.stringify(content)) - 2 - (saved ?? 0);
}

describe('TokenCounter', () => {
  it('knows by how much tokens are fewer than bytes', async () => {
    const saved = await counter.savedTokens('o', chat(PROSE), 'o200k_base');
    // The line end is two bytes in JSON.
    expect(saved).toBe(PROSE.length + 1 - countTokens(PROSE));
  });

  it('counts by the tokeniser of the model', async () => {
    const text = '汉字测试文本数据 и немного русского текста';
    const [old = 0, newer = 0] = [
      await counter.savedTokens('o', chat(text), 'cl100k_base'),
      await counter.savedTokens('o', chat(text), 'o200k_base'),
    ];
    expect(newer).toBeGreaterThan(old);
    expect(old).toBeGreaterThan(0);
  });

  it('counts a long text in pieces, and as exactly', async () => {
    const text = PROSE.repeat(500);
    expect(await tokensOf(text)).toBe(countTokens(text));
  });

  it('reads the names of special tokens as text', async () => {
    const text = '<|endoftext|><|im_start|> and some more text';
    expect(await tokensOf(text)).toBe(countTokens(text, { disallowedSpecial: new Set() }));
    expect(await tokensOf(text)).toBeGreaterThan(15);
  });

  it('never counts fewer tokens than there are, whatever the text', async () => {
    const words = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom(' ', '\n', '\r\n/', '!!', "'s"));
    await fc.assert(
      fc.asyncProperty(fc.array(words, { minLength: 20, maxLength: 60 }), async (parts) => {
        const text = parts.join('').repeat(40);
        expect(await tokensOf(text)).toBeGreaterThanOrEqual(countTokens(text, { disallowedSpecial: new Set() }));
      }),
      { numRuns: 40 },
    );
  });

  it('takes the bytes of what would be slow to count', async () => {
    const spent = await cpuTimeOf(async () => {
      expect(await tokensOf(`${PROSE}${'a'.repeat(200_000)}`)).toBeGreaterThanOrEqual(200_000);
    });
    expect(spent).toBeLessThan(1_000);
  });

  it('takes the bytes of bytes that are not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('{"prompt":"'), Buffer.alloc(1_000, 0xff), Buffer.from('"}')]);
    expect(await counter.savedTokens('o', body, 'o200k_base')).toBeLessThan(1_000);
  });

  it('saves nothing in texts that are not valid JSON', async () => {
    const body = Buffer.from(String.raw`{"prompt":"a bad escape \x in a long text"}`);
    expect(await counter.savedTokens('o', body, 'o200k_base')).toBe(0);
  });

  it('counts what it reaches in time, and takes the bytes of the rest', async () => {
    const words = Array.from({ length: 500_000 }, (_, index) => `w${(index * 2_654_435_761) % 4_294_967_296}x`);
    const text = words.join(' ').slice(0, 4_000_000);
    let tokens = 0;
    await eventually(async () => (tokens = await tokensOf(text)) < text.length);
    expect(tokens).toBeGreaterThan(words.length);
  });

  it('counts nothing without texts, and nothing of very large bodies', async () => {
    expect(await counter.savedTokens('o', Buffer.from('{"model":"m"}'), 'o200k_base')).toBeUndefined();
    expect(await counter.savedTokens('o', chat(PROSE.repeat(70_000)), 'o200k_base')).toBeUndefined();
  });

  it('lets few calls of a tenant wait, so that others get their turn', async () => {
    const body = chat(PROSE.repeat(200));
    const many = Array.from({ length: 8 }, () => counter.savedTokens('many', body, 'o200k_base'));
    const other = counter.savedTokens('other', body, 'o200k_base');
    const found = await Promise.all(many);
    // One runs, four wait.
    expect(found.map((saved) => saved !== undefined)).toEqual([true, true, true, true, true, false, false, false]);
    expect(await other).toBeGreaterThan(0);
  });

  it('ends a thread that does not start, and starts another for the next call', async () => {
    const lines: unknown[] = [];
    const hanging = new HangingCounter({ warn: (line: unknown) => void lines.push(line) });
    jest.useFakeTimers();
    try {
      const lost = hanging.savedTokens('o', chat(PROSE), 'o200k_base');
      await jest.advanceTimersByTimeAsync(10_000);
      expect(await lost).toBeUndefined();
      expect(lines).toMatchObject([{ event: 'token_counter_failed' }]);
    } finally {
      jest.useRealTimers();
    }
    await eventually(async () => (await hanging.savedTokens('o', chat(PROSE), 'o200k_base')) !== undefined);
    expect(hanging.threads).toBe(2);
    await hanging.beforeApplicationShutdown();
  });

  it('ends what waits when the gateway stops, and starts again for the next call', async () => {
    const waiting = [1, 2].map(() => counter.savedTokens('o', chat(PROSE), 'o200k_base'));
    await counter.beforeApplicationShutdown();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    await started('o200k_base');
    expect(warnings).toEqual([]);
  });
});
