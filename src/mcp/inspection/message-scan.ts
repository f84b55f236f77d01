import { JSON_TOKEN, QUOTE } from '../../common/json/scan.js';

/** How an answer ended, as far as its bytes say. `code` is that of the JSON-RPC error. */
export interface ScannedAnswer {
  /** JSON, a character per byte of UTF-8; empty when the message has none, or a very long one. */
  readonly id: string;
  readonly hasError: boolean;
  readonly code: string;
  readonly isToolError: boolean;
}

const BACKSLASH = 0x5c;
const SPACE = 0x20;
/** Longer messages are not read to their end. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Of a key, an id or a code. */
const MAX_TEXT_LENGTH = 256;
/** As many messages as a batch may have. */
const MAX_ANSWERS = 100;

/**
 * Finds the answers in a JSON text that arrives in pieces: of each message, its id, the code of its `error` and the `isError` of
 * its `result`. Keeps a few short texts and no body. A text that is too long, or not JSON, has no answers.
 */
export class MessageScan {
  #answers: ScannedAnswer[] = [];
  #size = 0;
  #depth = 0;
  /** 1, or 2 in a batch. Keys and values are read here and one level below. */
  #messageDepth = 1;
  #inString = false;
  #isEscaped = false;
  /** The last key or value, as it is written. */
  #text = '';
  /** The key at the depth of the message, and the one below. */
  #member = '';
  #key = '';
  #id = '';
  #hasAnswer = false;
  #hasError = false;
  #code = '';
  #isToolError = false;

  push(bytes: Buffer, start: number, end: number): void {
    this.#size += end - start;
    if (this.isTooLong) return;
    let at = start;
    while (at < end) {
      if (this.#inString) at = this.#passString(bytes, at, end);
      else if (this.#depth > this.#messageDepth + 1) at = this.#skip(bytes, at, end);
      else {
        this.#read(bytes[at] ?? SPACE);
        at += 1;
      }
    }
  }

  get isTooLong(): boolean {
    return this.#size > MAX_MESSAGE_BYTES;
  }

  /** The answers of the text, which is now complete. The next text may follow. */
  take(): readonly ScannedAnswer[] {
    const isWhole = !this.isTooLong && this.#depth === 0 && !this.#inString;
    const answers = isWhole ? this.#answers : [];
    this.#answers = [];
    this.#size = 0;
    this.#depth = 0;
    this.#inString = false;
    this.#isEscaped = false;
    this.#text = '';
    this.#begin();
    return answers;
  }

  /** Returns the position behind the string, or behind the part of it that has arrived. */
  #passString(bytes: Buffer, start: number, end: number): number {
    let at = start;
    if (this.#isEscaped) at += 1;
    this.#isEscaped = false;
    // Most bytes of an answer are in strings, so this loop does nothing else.
    while (at < end) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.#inString = false;
        at += 1;
        break;
      }
      at += byte === BACKSLASH ? 2 : 1;
    }
    // The escaped byte has not arrived.
    if (at > end) this.#isEscaped = true;
    const stop = Math.min(at, end);
    if (this.#depth <= this.#messageDepth + 1) this.#keep(bytes, start, stop);
    return stop;
  }

  /** Passes what is too deep to matter, up to a string or the end of the value. */
  #skip(bytes: Buffer, start: number, end: number): number {
    const leastDepth = this.#messageDepth + 2;
    let depth = this.#depth;
    let at = start;
    for (; at < end && depth >= leastDepth && !this.#inString; at += 1) {
      switch (bytes[at]) {
        case QUOTE:
          this.#inString = true;
          break;
        case JSON_TOKEN.openBrace:
        case JSON_TOKEN.openBracket:
          depth += 1;
          break;
        case JSON_TOKEN.closeBrace:
        case JSON_TOKEN.closeBracket:
          depth -= 1;
          break;
        default:
      }
    }
    this.#depth = depth;
    return at;
  }

  #read(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#text = '"';
        return;
      case JSON_TOKEN.openBrace:
      case JSON_TOKEN.openBracket:
        return this.#open(byte);
      case JSON_TOKEN.colon:
        return this.#endKey();
      case JSON_TOKEN.comma:
        return this.#endValue();
      case JSON_TOKEN.closeBrace:
      case JSON_TOKEN.closeBracket:
        return this.#close(byte);
      default:
        if (byte > SPACE && this.#text.length < MAX_TEXT_LENGTH) this.#text += String.fromCharCode(byte);
    }
  }

  #open(byte: number): void {
    this.#depth += 1;
    this.#text = '';
    if (this.#depth === 1) this.#messageDepth = byte === JSON_TOKEN.openBracket ? 2 : 1;
    if (this.#depth === this.#messageDepth) this.#begin();
    if (this.#depth === this.#messageDepth + 1 && byte === JSON_TOKEN.openBrace) {
      if (this.#member === 'error') this.#hasError = true;
      this.#hasAnswer ||= this.#member === 'error' || this.#member === 'result';
    }
  }

  #close(byte: number): void {
    this.#endValue();
    if (this.#depth === this.#messageDepth && byte === JSON_TOKEN.closeBrace && this.#hasAnswer) {
      const answer = { id: this.#id, hasError: this.#hasError, code: this.#code, isToolError: this.#isToolError };
      if (this.#answers.length < MAX_ANSWERS) this.#answers.push(answer);
    }
    this.#depth -= 1;
    this.#key = '';
  }

  #begin(): void {
    this.#member = '';
    this.#key = '';
    this.#id = '';
    this.#hasAnswer = false;
    this.#hasError = false;
    this.#code = '';
    this.#isToolError = false;
  }

  #endKey(): void {
    if (!this.#isRead()) return;
    // A key with an escape is none that is looked for.
    const key = this.#text.slice(1, -1);
    if (this.#depth === this.#messageDepth) this.#member = key;
    else this.#key = key;
    this.#text = '';
  }

  #endValue(): void {
    if (!this.#isRead()) return;
    const text = this.#text;
    this.#text = '';
    if (this.#depth === this.#messageDepth) {
      if (this.#member === 'id') this.#id = text;
    } else if (this.#member === 'error' && this.#key === 'code') this.#code = text;
    else if (this.#member === 'result' && this.#key === 'isError') this.#isToolError = text === 'true';
  }

  #isRead(): boolean {
    return this.#depth === this.#messageDepth || this.#depth === this.#messageDepth + 1;
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    // Half a text could be taken for another one.
    if (this.#text.length + end - start > MAX_TEXT_LENGTH) this.#text = ' '.repeat(MAX_TEXT_LENGTH);
    else this.#text += bytes.toString('latin1', start, end);
  }
}
