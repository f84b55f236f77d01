import { JSON_TOKEN, stringAt, walkJson } from '../../common/json/scan.js';

const ASCII = /^[\x20-\x7e]*$/;
/** Characters. Sorting combining marks takes quadratic time. */
const MAX_FOLDED_LENGTH = 64;
const MAX_FOLDINGS = 1_000;

/** Keys that decide what a message does, by their folded form. */
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
 * The first key of a JSON-RPC message, or of its `params`, that JSON parsers may read differently: a key that occurs twice (first
 * or last?), or a variant of a protocol key in case or look-alike letters (Go's decoder accepts `Name` and `paramſ`). Undefined
 * when there is none. The text must be valid JSON; `isBatch` when its root is an array of messages.
 */
export function findAmbiguousKey(json: Buffer, isBatch: boolean): string | undefined {
  const messageDepth = isBatch ? 2 : 1;
  const scan = new KeyScan(messageDepth);
  let found: string | undefined;
  walkJson(json, (token, _at, depth, last) => {
    if (token === JSON_TOKEN.openBrace) scan.enter(depth);
    if (token !== JSON_TOKEN.colon || depth > messageDepth + 1) return true;
    const key = stringAt(json, last);
    if (scan.isAmbiguous(key, depth)) found = key;
    return found === undefined;
  });
  return found;
}

/** The keys seen so far in the current message, and in the current object inside it. */
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

  /** Keys that are expensive to fold count as variants: no client needs them, and they would block the event loop. */
  private isVariant(keys: ReadonlyMap<string, string>, key: string): boolean {
    if (keys.get(key) === key) return false;
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

/** A key without case, compatibility forms, accents and invisible characters. */
function folded(key: string): string {
  if (ASCII.test(key)) return key.toLowerCase();
  return key
    .normalize('NFKD')
    .replaceAll(/[\p{Mark}\p{Format}]/gu, '')
    .toUpperCase()
    .toLowerCase()
    .trim();
}
