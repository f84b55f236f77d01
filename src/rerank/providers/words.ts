/** A run of letters, digits and combining marks. */
const RUN = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts that write words without spaces between them: a run of these is not one word. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** The segmenter takes quadratic time: 100,000 characters in one piece take seconds. */
const SLICE_CHARACTERS = 256;
/**
 * Normalizing takes quadratic time in the marks after one letter: 32,000 take a quarter of a second. Longer runs are
 * cut into pieces, always in the same way.
 */
const WORD_CHARACTERS = 64;
const PIECE = new RegExp(`.{1,${WORD_CHARACTERS}}`, 'gsu');

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** The words of a text in any script, in one spelling: compatibility forms resolved, lower case. Lazy. */
export function* wordsOf(text: string): Generator<string, void, undefined> {
  for (const [run] of text.matchAll(RUN)) {
    if (!UNSPACED.test(run)) yield* fold(run);
    else yield* segment(run);
  }
}

/** A word that lies across the border of two slices is cut in two. */
function* segment(run: string): Generator<string, void, undefined> {
  for (let start = 0; start < run.length; start += SLICE_CHARACTERS) {
    for (const part of segmenter.segment(run.slice(start, start + SLICE_CHARACTERS))) {
      if (part.isWordLike === true) yield* fold(part.segment);
    }
  }
}

function* fold(word: string): Generator<string, void, undefined> {
  if (word.length <= WORD_CHARACTERS) yield foldPiece(word);
  else for (const [piece] of word.matchAll(PIECE)) yield foldPiece(piece);
}

function foldPiece(word: string): string {
  return word.normalize('NFKC').toLowerCase();
}
