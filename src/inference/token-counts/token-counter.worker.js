// Counting takes half a second for a megabyte: in a thread of its own it cannot stall the gateway. Plain JavaScript, since Node
// starts this file by itself, from src under the tests and from dist otherwise.
import { parentPort } from 'node:worker_threads';

/** A tokeniser takes the square of the time for what it cannot split: letters, signs or spaces in one run. */
const LONG_RUN = /[\p{L}\p{M}]{256}|[^\s\p{L}\p{N}]{256}|\s{256}/u;
/** No token of either tokeniser goes on across these places, so that the counts of both sides add up. */
const SPLIT = /[A-Za-z](?= [A-Za-z])|\n(?=[A-Za-z])/g;
/** Characters that are counted at a time. */
const PIECE = 16_384;
/** Of runs without a space, which come again. */
const CACHED_RUNS = 50_000;
/** Characters that readers of other versions of Unicode take for others: a letter or none, which decides where a text is split. */
const UNSETTLED = /[\u{10000}-\u{10FFFF}\p{Cn}]/gu;
/** Nothing in a text of a caller has a special meaning. */
const PLAIN = { disallowedSpecial: new Set() };

const tokenizers = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
};

parentPort.on('message', (job) => void count(job));

async function count({ id, encoding, bytes, texts, budgetMs }) {
  const { countTokens, setMergeCacheSize } = await tokenizers[encoding]();
  setMergeCacheSize(CACHED_RUNS);
  parentPort.postMessage({ id });
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const until = performance.now() + budgetMs;
  let saved = 0;
  for (let at = 0; at < texts.length && performance.now() < until; at += 2) {
    const [start, end] = [texts[at], texts[at + 1]];
    saved += Math.max(0, end - start - 1 - tokensOf(textOf(json.toString('utf8', start, end + 1)), countTokens, until));
  }
  parentPort.postMessage({ id, saved });
}

function textOf(quoted) {
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined;
  }
}

/** Tokens at most: one for each byte of what cannot be counted in time. */
function tokensOf(text, countTokens, until) {
  if (text === undefined) return Infinity;
  let tokens = 0;
  for (let start = 0; start < text.length;) {
    if (performance.now() >= until) return tokens + Buffer.byteLength(text.slice(start));
    const end = endOfPiece(text, start);
    const piece = text.slice(start, end);
    tokens += LONG_RUN.test(piece) ? Buffer.byteLength(piece) : countTokens(piece, PLAIN) + unsettledIn(piece);
    start = end;
  }
  return tokens;
}

function endOfPiece(text, start) {
  if (text.length - start <= PIECE) return text.length;
  SPLIT.lastIndex = start + PIECE;
  const found = SPLIT.exec(text);
  return found === null ? text.length : found.index + 1;
}

/** One token each, on top: it moves by no more. */
function unsettledIn(piece) {
  return piece.match(UNSETTLED)?.length ?? 0;
}
