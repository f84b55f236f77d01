const BYTE_ORDER_MARK = 0xfeff;

/**
 * What another program sent as JSON, which may begin with a byte order mark (RFC 8259, section 8.1); undefined when it is no
 * JSON. The parser's own error is dropped: its message quotes the text.
 */
export function parseForeignJson(source: Buffer | string): unknown {
  const text = typeof source === 'string' ? source : source.toString('utf8');
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}
