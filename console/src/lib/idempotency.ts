import { useRef } from 'react';

/**
 * For a form that creates something and then tests it: a retry with the same body gets the answer of the first create, and makes
 * no second resource.
 */
export function useIdempotency(): (body: object) => { readonly 'Idempotency-Key': string } {
  const sent = useRef({ text: '', key: '' });
  return (body) => {
    const text = JSON.stringify(body);
    if (text !== sent.current.text) sent.current = { text, key: randomKey() };
    return { 'Idempotency-Key': sent.current.key };
  };
}

/** `crypto.randomUUID` is missing on pages without TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
