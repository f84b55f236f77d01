// Closed-loop load: a fixed number of keep-alive connections, each with one request in flight. Written on bare sockets,
// since an HTTP client would take as much of the machine as the servers that are measured.
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
/** The end of an answer in chunks (RFC 9112, section 7.1). */
const LAST_CHUNK = '0\r\n\r\n';

/** Connections to one server, each of which sends the same request again and again. */
export class Load {
  #connections = [];

  /**
   * @param headers further header fields, as an object
   * @param bodies that the connections send in turn; by default, all send `body`
   */
  static async open(url, { body, bodies = [body], headers = {}, concurrency }) {
    const load = new Load();
    const requests = bodies.map((each) => requestBytes(new URL(url), headers, each));
    for (let index = 0; index < concurrency; index += 1) {
      load.#connections.push(await Connection.open(new URL(url), requests[index % requests.length]));
    }
    return load;
  }

  /** Sends for `ms` milliseconds, at most `limit` requests; waits for the last answers. Latencies in milliseconds. */
  async run({ ms, limit = Infinity }) {
    const latencies = [];
    let sent = 0;
    const end = performance.now() + ms;
    const mayStart = () => performance.now() < end && sent++ < limit;
    await Promise.all(this.#connections.map((connection) => connection.repeat(mayStart, latencies)));
    return latencies;
  }

  close() {
    for (const connection of this.#connections) connection.close();
  }
}

class Connection {
  #url;
  #socket;
  #request;
  #head = Buffer.alloc(0);
  /** Bytes of the answer that are still to come, of one in chunks without end; undefined while its head is read. */
  #missing;
  /** Of an answer in chunks. */
  #tail = '';
  #onAnswer = () => undefined;
  #onError = () => undefined;

  static async open(url, request) {
    const connection = new Connection();
    connection.#request = request;
    connection.#url = url;
    await connection.#connect();
    return connection;
  }

  #connect() {
    return new Promise((done, fail) => {
      const socket = connect(Number(this.#url.port), this.#url.hostname, done);
      this.#socket = socket;
      socket.setNoDelay(true);
      socket.once('error', fail);
      socket.on('data', (chunk) => this.#read(chunk));
      socket.on('error', (error) => this.#onError(error));
      socket.on('close', () => this.#onError(new Error('the server closed a connection')));
    });
  }

  /** One request after the other for as long as `mayStart` says so. */
  async repeat(mayStart, latencies) {
    // Some servers close a connection that was idle for a few seconds.
    if (this.#socket.destroyed) await this.#connect();
    await new Promise((done, fail) => {
      let startedAt = 0;
      const next = () => {
        if (!mayStart()) return done();
        startedAt = performance.now();
        this.#socket.write(this.#request);
      };
      this.#onError = fail;
      this.#onAnswer = () => {
        latencies.push(performance.now() - startedAt);
        next();
      };
      next();
    });
  }

  close() {
    this.#onError = () => undefined;
    this.#socket.destroy();
  }

  #read(chunk) {
    if (this.#missing === undefined) {
      const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
      const headEnd = bytes.indexOf(HEAD_END);
      if (headEnd < 0) return void (this.#head = bytes);
      this.#head = Buffer.alloc(0);
      const rest = bytes.length - headEnd - HEAD_END.length;
      this.#missing = lengthOf(bytes.latin1Slice(0, headEnd), bytes) - rest;
    } else {
      this.#missing -= chunk.length;
    }
    if (this.#missing === Infinity) this.#readTail(chunk);
    if (this.#missing > 0) return;
    this.#missing = undefined;
    this.#onAnswer();
  }

  #readTail(chunk) {
    const last = chunk.latin1Slice(Math.max(0, chunk.length - LAST_CHUNK.length));
    this.#tail = (this.#tail + last).slice(-LAST_CHUNK.length);
    if (this.#tail !== LAST_CHUNK) return;
    this.#tail = '';
    this.#missing = 0;
  }
}

/** A benchmark of errors would be worth nothing, so anything but a 200 of known length ends it. */
function lengthOf(head, bytes) {
  if (head.startsWith('HTTP/1.1 200') && /\r\ntransfer-encoding: *chunked/i.test(head)) return Infinity;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (!head.startsWith('HTTP/1.1 200') || length === undefined)
    throw new Error(`unexpected answer: ${bytes.toString()}`);
  return Number(length);
}

function requestBytes(url, headers, body) {
  const fields = { host: url.host, 'content-type': 'application/json', ...headers, 'content-length': body.length };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}
