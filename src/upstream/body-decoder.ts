import type { Duplex } from 'node:stream';
import { type Coding, decoderOf, readCodings } from '../common/http/content-coding.js';
import { UpstreamFailure, type UpstreamHead } from './upstream.types.js';

/** Where a decoded answer is streamed, and so has no bound of its own: no true text shrinks more than that. */
const MAX_EXPANSION = 1_100;
const FREE_BYTES = 1024 * 1024;
const PARTIAL_CONTENT = 206;

/** What the decoder gives back. */
export interface DecodedParts {
  data(chunk: Buffer): void;
  /** The encoded body ended as it should. */
  end(): void;
  fail(failure: UpstreamFailure): void;
  /** More encoded bytes are welcome again. */
  drain(): void;
}

/**
 * Decodes a body that was compressed although `identity` was asked for. Holds some KiB at a time, however much the bytes
 * expand: the bound of the answer applies to what comes out.
 */
export class BodyDecoder {
  readonly #codings: readonly Coding[];
  readonly #stages: Duplex[] = [];
  #encodedBytes = 0;
  #decodedBytes = 0;

  private constructor(
    codings: readonly Coding[],
    private readonly host: string,
    private readonly parts: DecodedParts,
  ) {
    this.#codings = codings;
  }

  /** Undefined for a body that is not encoded, or in a way that is unknown here: then its bytes are passed on as they are. */
  static for(head: UpstreamHead, host: string, parts: DecodedParts): BodyDecoder | undefined {
    // A part of an encoded body cannot be decoded for itself (RFC 9110, section 15.3.7).
    const codings = head.status === PARTIAL_CONTENT ? undefined : readCodings(head.headers['content-encoding']);
    return codings === undefined || codings.length === 0 ? undefined : new BodyDecoder(codings, host, parts);
  }

  /** False: no more until `drain`. */
  write(chunk: Buffer): boolean {
    this.#encodedBytes += chunk.length;
    return this.#open(chunk).write(chunk);
  }

  end(): void {
    const [first] = this.#stages;
    // A body of no bytes has no frame either.
    if (first === undefined) this.parts.end();
    else first.end();
  }

  pause(): void {
    this.#stages.at(-1)?.pause();
  }

  resume(): void {
    this.#stages.at(-1)?.resume();
  }

  destroy(): void {
    for (const stage of this.#stages) stage.destroy();
  }

  /** The first stage. Made with the first bytes, which say what kind of deflate it is. */
  #open(chunk: Buffer): Duplex {
    const [known] = this.#stages;
    if (known !== undefined) return known;
    // The coding that was applied last is the first to be undone.
    const stages = this.#codings
      .toReversed()
      .map((coding, index) => decoderOf(coding, index === 0 ? chunk : undefined));
    const [first] = stages;
    const last = stages.reduce((before, after) => before.pipe(after));
    if (first === undefined) throw new Error('a decoder without a coding');
    this.#stages.push(...stages);
    for (const stage of stages)
      stage.on('error', () => this.parts.fail(this.#failure('incomplete', 'cannot be decoded')));
    first.on('drain', () => this.parts.drain());
    last.on('data', (decoded: Buffer) => this.#pass(decoded)).on('end', () => this.parts.end());
    return first;
  }

  #pass(decoded: Buffer): void {
    this.#decodedBytes += decoded.length;
    if (this.#decodedBytes <= FREE_BYTES + this.#encodedBytes * MAX_EXPANSION) return this.parts.data(decoded);
    this.parts.fail(this.#failure('too_large', `expands more than ${MAX_EXPANSION} times`));
  }

  #failure(kind: 'incomplete' | 'too_large', problem: string): UpstreamFailure {
    return new UpstreamFailure(kind, `the answer of ${this.host} in ${this.#codings.join(', ')} ${problem}`);
  }
}

/** The head of a decoded answer: its coding is undone, and its length is another one. */
export function decodedHead({ status, headers }: UpstreamHead): UpstreamHead {
  const { 'content-encoding': _coding, 'content-length': _length, ...others } = headers;
  return { status, headers: others };
}
