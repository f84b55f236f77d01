import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface RunningAnswer {
  readonly answer: ServerResponse;
  before: RunningAnswer | undefined;
  after: RunningAnswer | undefined;
}

/**
 * The answers under way, so that their connections can end with them. `server.close` ends the connections that are idle at
 * that moment; others would be kept alive after their answer, and hold up the end for the whole grace time. So would those on
 * which nothing was ever sent, which are not idle to it: pools and browsers open some for later.
 *
 * In a list of links and not in a Set: a Set gets a new table every few entries, and each table points to the one that came
 * after it. One that is dead but among V8's old objects would hold, through them, every answer since
 * (docs/decisions/0018-garbage-of-requests.md).
 */
export class RunningAnswers {
  private readonly connections = new Set<Socket>();
  private first: RunningAnswer | undefined;
  private ending = false;

  constructor(server: Server) {
    server.prependListener('request', (_request, answer: ServerResponse) => {
      if (this.ending) return endConnectionAfter(answer);
      const running = this.add(answer);
      answer.once('close', () => this.remove(running));
    });
    server.on('connection', (socket: Socket) => {
      this.connections.add(socket);
      socket.once('close', () => this.connections.delete(socket));
    });
  }

  /** From now on every connection ends with its answer, and one that has asked nothing at once. */
  endConnections(): void {
    this.ending = true;
    for (const socket of this.connections) if (socket.bytesRead === 0) socket.destroy();
    for (let running = this.first; running !== undefined; running = running.after) endConnectionAfter(running.answer);
  }

  private add(answer: ServerResponse): RunningAnswer {
    const running: RunningAnswer = { answer, before: undefined, after: this.first };
    if (this.first !== undefined) this.first.before = running;
    this.first = running;
    return running;
  }

  private remove(running: RunningAnswer): void {
    const { before, after } = running;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after !== undefined) after.before = before;
    running.before = undefined;
    running.after = undefined;
  }
}

function endConnectionAfter(answer: ServerResponse): void {
  const { socket } = answer;
  if (answer.headersSent) answer.once('finish', () => socket?.end());
  else answer.setHeader('connection', 'close');
}
