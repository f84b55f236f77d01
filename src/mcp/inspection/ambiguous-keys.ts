import { JSON_TOKEN, stringAt, walkJson } from '../../common/json/walk-json.js';

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
