const BYTE_ORDER_MARK = 0xfeff;

/** What another program sent as JSON, which may begin with a byte order mark (RFC 8259, section 8.1). Throws as JSON.parse does. */
export function parseForeignJson(body: Buffer): unknown {
  const text = body.toString('utf8');
  return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
}
