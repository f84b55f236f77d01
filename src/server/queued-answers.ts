import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Of one connection. Each is a request that is being handled, however little it cost the client to send. */
const MAX_QUEUED = 100;

/**
 * Closes the answers of pipelined requests (RFC 9112, section 9.3.2) when their connection ends before it is their turn. Node 20
 * closes only the one whose turn it is: the others would stay open for ever, with everything that ends with an answer. A
 * connection with too many of them is cut.
 */
export function closeQueuedAnswers(server: Server): void {
  const queues = new WeakMap<Socket, Set<ServerResponse>>();

  const queueOf = (socket: Socket): Set<ServerResponse> => {
    const known = queues.get(socket);
    if (known !== undefined) return known;
    const queue = new Set<ServerResponse>();
    queues.set(socket, queue);
    socket.once('close', () => {
      for (const answer of queue) answer.destroy();
      // Who has closed by then, all of them in Node 24, has left.
      setImmediate(() => {
        for (const answer of queue) answer.emit('close');
      });
    });
    return queue;
  };

  // Whoever waits for the end of an answer listens by the time it comes, or is told of it when the request's turn comes.
  server.on('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    if (answer.socket !== null) return;
    const queue = queueOf(socket);
    queue.add(answer);
    answer.once('close', () => queue.delete(answer));
    if (queue.size > MAX_QUEUED) socket.destroy();
  });
}
