const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';
const MAX_FIELD_LENGTH = 8;
const MAX_TYPE_LENGTH = 16;
const NEW_LINE = Buffer.from('\n');

type Line = 'name' | 'data' | 'event' | 'other';

/**
 * Passes on the data of an event stream piece by piece, without gathering events. Lines end in LF, CR or CRLF (WHATWG HTML, 9.2.5).
 * @see EventSplitter for whole events
 */
export class EventDataReader {
  #line: Line = 'name';
  #name = '';
  #type = '';
  #afterCr = false;

  /**
   * @param onData called with a range of bytes, several times per event; lines of data are separated by LF
   * @param onEvent called at the end of each event with its type; empty when it names none
   */
  constructor(
    private readonly onData: (bytes: Buffer, start: number, end: number) => void,
    private readonly onEvent: (type: string) => void,
  ) {}

  push(chunk: Buffer): void {
    let lineFeed = -1;
    let carriageReturn = -1;
    for (let at = 0; at < chunk.length;) {
      if (this.#afterCr && chunk[at] === LF) at += 1;
      this.#afterCr = false;
      // Searched again only when it was passed, so that each byte is searched once.
      if (lineFeed < at) lineFeed = positionOf(LF, chunk, at);
      if (carriageReturn < at) carriageReturn = positionOf(CR, chunk, at);
      const end = Math.min(lineFeed, carriageReturn);
      if (at < end) this.#read(chunk, at, end);
      if (end < chunk.length) this.#endLine();
      this.#afterCr = chunk[end] === CR;
      at = end + 1;
    }
  }

  #read(chunk: Buffer, start: number, end: number): void {
    let at = start;
    while (this.#line === 'name' && at < end) {
      const byte = chunk[at] ?? COLON;
      at += 1;
      if (byte === COLON) this.#line = lineOf(this.#name);
      else if (this.#name.length < MAX_FIELD_LENGTH) this.#name += String.fromCharCode(byte);
      else this.#line = 'other';
    }
    if (at === end) return;
    if (this.#line === 'data') this.onData(chunk, at, end);
    else if (this.#line === 'event')
      this.#type = (this.#type + chunk.toString('latin1', at, end)).slice(0, MAX_TYPE_LENGTH);
  }

  #endLine(): void {
    if (this.#line === 'data') this.onData(NEW_LINE, 0, 1);
    else if (this.#line === 'name' && this.#name === '') {
      this.onEvent(this.#type.trimStart());
      this.#type = '';
    }
    this.#line = 'name';
    this.#name = '';
  }
}

/** A stream may begin with a byte order mark. */
function lineOf(name: string): Line {
  const field = name.startsWith(BYTE_ORDER_MARK) ? name.slice(BYTE_ORDER_MARK.length) : name;
  return field === 'data' || field === 'event' ? field : 'other';
}

/** The end of the chunk when the byte is not in it. */
function positionOf(byte: number, chunk: Buffer, start: number): number {
  const found = chunk.indexOf(byte, start);
  return found < 0 ? chunk.length : found;
}
