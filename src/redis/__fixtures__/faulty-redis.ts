import { createServer, type Server, type Socket } from 'node:net';

/** Commands of RESP as clients send them: an array of strings, each after a line with its length. */
const COMMAND = /\*\d+\r\n\$\d+\r\n([^\r\n]*)\r\n(?:\$\d+\r\n[^\r\n]*\r\n)*/g;

/** What a command is answered with, a line of RESP, by its name; undefined: nothing is. */
type Answer = (command: string) => string | undefined;

const serving: Answer = (command) => (command === 'info' ? '$9\r\nloading:0' : '+OK');

export const silent: Answer = () => undefined;
/** @param errors by the names of commands; whatever is not named is done */
export function refusing(errors: Readonly<Record<string, string>>): Answer {
  return (command) => (errors[command] === undefined ? serving(command) : `-${errors[command]}`);
}

/** A server that speaks enough of Redis for a client to connect, and is of as little use as it is told to be. */
export class FaultyRedis {
  /** What clients sent. */
  received = '';
  connections = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(public answer: Answer = serving) {
    this.server = createServer((socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => this.take(chunk.toString(), socket));
    });
  }

  /** @returns the port */
  async listen(): Promise<number> {
    await new Promise<void>((ready) => this.server.listen(0, '127.0.0.1', ready));
    const address = this.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    return address.port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((done) => this.server.close(done));
  }

  private take(text: string, socket: Socket): void {
    this.received += text;
    for (const [, name = ''] of text.matchAll(COMMAND)) {
      const answer = this.answer(name.toLowerCase());
      if (answer !== undefined) socket.write(`${answer}\r\n`);
    }
  }
}
