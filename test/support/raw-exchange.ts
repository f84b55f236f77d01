import { connect } from 'node:net';

/** Sends bytes unchanged, and resolves with the whole answer when the server closes the connection. */
export function rawExchange(port: number, text: string): Promise<string> {
  return new Promise((done, fail) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('end', () => done(answer));
    socket.on('error', fail);
  });
}
