import type { Duplex } from 'node:stream';
import { type Coding, decoderOf, readCodings } from '../common/http/content-coding.js';
import { UpstreamFailure, type UpstreamHead } from './upstream.types.js';

/** The largest expansion of a decoded body, since a streamed answer has no size limit. No real text compresses more. */
const MAX_EXPANSION = 1_100;
const FREE_BYTES = 1024 * 1024;
const PARTIAL_CONTENT = 206;

/** Receives the output of the decoder. */
export interface DecodedParts {
  data(chunk: Buffer): void;
  /** Called when the encoded body ended properly. */
  end(): void;
  fail(failure: UpstreamFailure): void;
  /** Called when the decoder accepts more encoded bytes again. */
  drain(): void;
}

/**
 * Decodes a body that was compressed although the request asked for `identity`. Holds some KiB at a time, even if the
 * bytes expand much: the limit of the answer applies to the decoded bytes.
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

  /**
   * Creates a decoder; undefined for a body that is not encoded, or has an unknown coding. Such bytes are forwarded
   * unchanged.
   */
  static for(head: UpstreamHead, host: string, parts: DecodedParts): BodyDecoder | undefined {
    // A part of an encoded body cannot be decoded alone (RFC 9110, section 15.3.7).
    const codings = head.status === PARTIAL_CONTENT ? undefined : readCodings(head.headers['content-encoding']);
    return codings === undefined || codings.length === 0 ? undefined : new BodyDecoder(codings, host, parts);
  }

  /** Returns false when no more bytes are accepted until `drain`. */
  write(chunk: Buffer): boolean {
    this.#encodedBytes += chunk.length;
    return this.#open(chunk).write(chunk);
  }

  end(): void {
    const [first] = this.#stages;
    // An empty body has no compressed frame.
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

  /** The first stage. Created with the first bytes, which show the kind of deflate. */
  #open(chunk: Buffer): Duplex {
    const [known] = this.#stages;
    if (known !== undefined) return known;
    // Codings are undone in reverse order.
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

/** The head of a decoded answer, without the coding and the encoded length. */
export function decodedHead({ status, headers }: UpstreamHead): UpstreamHead {
  const { 'content-encoding': _coding, 'content-length': _length, ...others } = headers;
  return { status, headers: others };
}
