import { createServer, type Server, type Socket } from 'node:net';

/** Commands of RESP as clients send them: an array of strings, each after a line with its length. */
const COMMAND = /^\*(\d+)\r\n((?:\$\d+\r\n[^\r\n]*\r\n)+)/;

/** A server that speaks enough of Redis for a client to connect, and refuses the commands that it is told to. */
export class RefusingRedis {
  /** By name: the errors of commands. Whatever is not named is done. */
  refusals: Readonly<Record<string, string>> = {};
  /** Whether nothing is answered. */
  isSilent = false;
  connections = 0;
  /** Names of the commands that were done. */
  readonly done: string[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((socket) => {
      this.connections += 1;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => this.read(chunk.toString(), socket));
    });
  }

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

  private read(text: string, socket: Socket): void {
    if (this.isSilent) return;
    let rest = text;
    for (let command = COMMAND.exec(rest); command !== null; command = COMMAND.exec(rest)) {
      rest = rest.slice(command[0].length);
      const [, name = ''] = (command[2] ?? '').split('\r\n');
      socket.write(this.answerTo(name.toLowerCase()));
    }
  }

  private answerTo(name: string): string {
    const refusal = this.refusals[name];
    if (refusal !== undefined) return `-${refusal}\r\n`;
    this.done.push(name);
    return name === 'info' ? '$9\r\nloading:0\r\n' : '+OK\r\n';
  }
}
