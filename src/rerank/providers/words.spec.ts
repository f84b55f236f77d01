import { describe, expect, it } from '@jest/globals';
import { wordsOf } from './words.js';
import { cpuTimeOf } from '../../../test/support/cpu-time.js';

const words = (text: string): string[] => [...wordsOf(text)];

describe('wordsOf', () => {
  it('splits at spaces and punctuation and converts to lower case', () => {
    expect(words('Rerank 3.5: the BEST-known model!')).toEqual(['rerank', '3', '5', 'the', 'best', 'known', 'model']);
  });

  it('resolves compatibility forms, so that full-width and ligature spellings match plain ones', () => {
    expect(words('ＡＢＣ１２３ ﬁnd')).toEqual(['abc123', 'find']);
  });

  it('keeps combining marks with their letters', () => {
    expect(words('café naïve हिन्दी')).toEqual(['café', 'naïve', 'हिन्दी']);
  });

  it('converts every alphabet to lower case', () => {
    expect(words('ΑΘΗΝΑ МОСКВА')).toEqual(['αθηνα', 'москва']);
  });

  it('finds words in scripts without spaces', () => {
    expect(words('東京は日本の首都です')).toEqual(expect.arrayContaining(['東京', '日本', '首都']));
    expect(words('ภาษาไทย')).toEqual(['ภาษา', 'ไทย']);
  });

  it('finds no words in symbols', () => {
    expect(words(' — … 🙂 !')).toEqual([]);
  });

  it('takes linear time in scripts without spaces', async () => {
    // 340,000 characters given to the segmenter at once take minutes.
    const spent = await cpuTimeOf(() => words('检索增强生成系统通常先召回候选文档'.repeat(20_000)));
    expect(spent).toBeLessThan(5_000);
  });

  it('takes linear time for many marks after one letter', async () => {
    // Normalized at once, they take ten seconds and more.
    const spent = await cpuTimeOf(() => words(`a${'\u0300\u0316'.repeat(100_000)}`));
    expect(spent).toBeLessThan(5_000);
  });

  it('cuts a long run into the same words in any position, and never splits a surrogate pair', () => {
    const long = `a${'𝟘'.repeat(100)}`;
    expect(words(`x ${long}`)).toEqual(['x', `a${'0'.repeat(63)}`, '0'.repeat(37)]);
    expect(words(long)).toEqual(words(`x ${long}`).slice(1));
    expect(words('b'.repeat(64))).toEqual(['b'.repeat(64)]);
  });
});
