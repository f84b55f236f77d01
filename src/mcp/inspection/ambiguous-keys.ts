import { endOfString, QUOTE } from '../../common/json/json-strings.js';

const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const ASCII = /^[\x20-\x7e]*$/;
/** Characters. The time to order combining marks grows with the square of their number. */
const MAX_FOLDED_LENGTH = 64;
const MAX_FOLDINGS = 1_000;

/** Keys by which a server decides what a message does, each under its folded form. */
const MESSAGE_KEYS = foldedKeys(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
const PARAMS_KEYS = foldedKeys([
  'name',
  'arguments',
  'uri',
  'cursor',
  '_meta',
  'ref',
  'level',
  'requestId',
  'protocolVersion',
  'clientInfo',
  'capabilities',
  'inputResponses',
  'requestState',
]);

/**
 * The first key of a JSON-RPC message, or of its `params`, that readers of JSON may understand differently: one that comes
 * twice (first or last?), or one that is a protocol key but for case or look-alike letters (Go's decoder takes `Name` and
 * `paramſ`). Undefined when there is none. The text must be valid JSON; `isBatch` when its root is an array of messages.
 */
export function findAmbiguousKey(json: Buffer, isBatch: boolean): string | undefined {
  const messageDepth = isBatch ? 2 : 1;
  const scan = new KeyScan(messageDepth);
  let depth = 0;
  let stringStart = 0;
  let stringEnd = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) {
      stringStart = at;
      at = endOfString(json, at);
      stringEnd = at;
    } else if (byte === COLON) {
      if (depth > messageDepth + 1) continue;
      // Outside of strings a colon stands behind a key only, and that is the last string.
      const key = keyOf(json, stringStart, stringEnd);
      if (scan.isAmbiguous(key, depth)) return key;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (byte === OPEN_BRACE) scan.enter(depth);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
    }
  }
  return undefined;
}

/** The keys seen so far of the message at hand, and of the object inside of it. */
class KeyScan {
  readonly #ofMessage = new Set<string>();
  readonly #ofMember = new Set<string>();
  #member = '';
  #foldings = 0;

  constructor(private readonly messageDepth: number) {}

  enter(depth: number): void {
    if (depth === this.messageDepth) this.#ofMessage.clear();
    else if (depth === this.messageDepth + 1) this.#ofMember.clear();
  }

  isAmbiguous(key: string, depth: number): boolean {
    if (depth === this.messageDepth) {
      this.#member = key;
      return isRepeated(this.#ofMessage, key) || this.isVariant(MESSAGE_KEYS, key);
    }
    if (depth !== this.messageDepth + 1) return false;
    return isRepeated(this.#ofMember, key) || (this.#member === 'params' && this.isVariant(PARAMS_KEYS, key));
  }

  /** Keys that are dear to fold count as variants: no client needs them, and they would hold up everybody. */
  private isVariant(keys: ReadonlyMap<string, string>, key: string): boolean {
    if (!ASCII.test(key)) {
      this.#foldings += 1;
      if (key.length > MAX_FOLDED_LENGTH || this.#foldings > MAX_FOLDINGS) return true;
    }
    const protocolKey = keys.get(folded(key));
    return protocolKey !== undefined && protocolKey !== key;
  }
}

function isRepeated(seen: Set<string>, key: string): boolean {
  const { size } = seen;
  return seen.add(key).size === size;
}

function foldedKeys(keys: readonly string[]): ReadonlyMap<string, string> {
  return new Map(keys.map((key) => [folded(key), key]));
}

/** What is left of a key when case, compatibility forms, accents and invisible characters count for nothing. */
function folded(key: string): string {
  if (ASCII.test(key)) return key.toLowerCase();
  return key
    .normalize('NFKD')
    .replaceAll(/[\p{Mark}\p{Format}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .trim();
}

function keyOf(json: Buffer, start: number, end: number): string {
  const text = json.toString('utf8', start, end + 1);
  if (!text.includes('\\')) return text.slice(1, -1);
  const key: unknown = JSON.parse(text);
  return String(key);
}
