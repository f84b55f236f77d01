import { describe, expect, it } from '@jest/globals';
import { wordsOf } from './words.js';

const words = (text: string): string[] => [...wordsOf(text)];

describe('wordsOf', () => {
  it('splits at spaces and punctuation, and lowers case', () => {
    expect(words('Rerank 3.5: the BEST-known model!')).toEqual(['rerank', '3', '5', 'the', 'best', 'known', 'model']);
  });

  it('resolves compatibility forms, so that full-width and ligature spellings match plain ones', () => {
    expect(words('ＡＢＣ１２３ ﬁnd')).toEqual(['abc123', 'find']);
  });

  it('keeps marks with their letters', () => {
    expect(words('café naïve हिन्दी')).toEqual(['café', 'naïve', 'हिन्दी']);
  });

  it('lowers case in every alphabet', () => {
    expect(words('ΑΘΗΝΑ МОСКВА')).toEqual(['αθηνα', 'москва']);
  });

  it('finds words where a script writes none apart', () => {
    expect(words('東京は日本の首都です')).toEqual(expect.arrayContaining(['東京', '日本', '首都']));
    expect(words('ภาษาไทย')).toEqual(['ภาษา', 'ไทย']);
  });

  it('has no words for symbols alone', () => {
    expect(words(' — … 🙂 !')).toEqual([]);
  });

  it('takes time in proportion to the text, also where words are not written apart', () => {
    const startedAt = performance.now();
    words('检索增强生成系统通常先召回候选文档'.repeat(20_000));
    // 340,000 characters given to the segmenter at once take minutes.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('takes time in proportion to the text, also where marks without end follow one letter', () => {
    const startedAt = performance.now();
    words(`a${'\u0300\u0316'.repeat(100_000)}`);
    // Normalized at once, they take ten seconds and more.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('cuts what is longer than any word into the same words wherever it stands, and no pair of surrogates', () => {
    const long = `a${'𝟘'.repeat(100)}`;
    expect(words(`x ${long}`)).toEqual(['x', `a${'0'.repeat(63)}`, '0'.repeat(37)]);
    expect(words(long)).toEqual(words(`x ${long}`).slice(1));
    expect(words('b'.repeat(64))).toEqual(['b'.repeat(64)]);
  });
});
