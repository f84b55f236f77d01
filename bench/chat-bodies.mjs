// The chats that are measured.
/** Of a streamed answer. */
export const EVENTS = 100;

const KIB = 1_024;

export const FORMS = [
  { name: 'chat, 4 KB in and 2 KB out', path: '/whole', bytes: 4 * KIB, target: 2.5 },
  { name: `a stream of ${EVENTS} events`, path: '/stream', bytes: 4 * KIB, stream: true, target: 2 },
  { name: 'chat, 1 MB in and 2 KB out', path: '/whole', bytes: KIB * KIB, target: 2.5 },
];

/** A JSON body of exactly `bytes` bytes: turns of a conversation of 1 KB each, as long ones have them. */
export function chatBody({ bytes, stream }) {
  const body = {
    model: 'gpt-5-mini',
    max_completion_tokens: 500,
    ...(stream === true ? { stream } : {}),
    messages: [],
  };
  const turns = Math.max(1, Math.round(bytes / KIB));
  for (let turn = 0; turn < turns; turn += 1) {
    body.messages.push({ role: turn % 2 === 0 ? 'user' : 'assistant', content: '' });
  }
  const room = bytes - JSON.stringify(body).length;
  const each = Math.floor(room / turns);
  for (const [turn, message] of body.messages.entries()) {
    message.content = 'x'.repeat(turn === 0 ? room - each * (turns - 1) : each);
  }
  return Buffer.from(JSON.stringify(body));
}
