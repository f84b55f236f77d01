// The two requests that are measured. Text of a fixed seed: every run sends the same bytes.
export const MODEL = 'rerank-v3.5';

/** Ten passages, the everyday case. */
export const SMALL = { name: '4 KB, 10 documents', documents: 10, bytes: 4_096 };
/** As many documents as providers advise for one request, to find the best ten. */
export const LARGE = { name: '100 KB, 1,000 documents', documents: 1_000, bytes: 102_400 };
/** Results in every answer. */
export const RESULTS = 10;

/** A JSON body of exactly `bytes` bytes. */
export function rerankBody({ documents, bytes }) {
  const body = {
    model: MODEL,
    query: 'How do I rotate a gateway key without downtime?',
    top_n: RESULTS,
    documents: [],
  };
  const room = bytes - JSON.stringify(body).length - documents * '"",'.length + 1;
  const each = Math.floor(room / documents);
  const words = wordsFrom(1);
  for (let index = 0; index < documents; index += 1) {
    const length = index === documents - 1 ? room - each * (documents - 1) : each;
    body.documents.push(text(words, length));
  }
  return Buffer.from(JSON.stringify(body));
}

function text(words, length) {
  let out = '';
  while (out.length < length) out += `${words.next().value} `;
  return out.slice(0, length);
}

const WORDS =
  'keys rotate with an overlap so that clients move over while both of them work before the old one ends'.split(' ');

/** Numerical Recipes' linear congruential generator. */
function* wordsFrom(seed) {
  for (let state = seed; ; state = (state * 1_664_525 + 1_013_904_223) >>> 0) yield WORDS[state % WORDS.length];
}
