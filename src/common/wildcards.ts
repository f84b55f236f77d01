/**
 * Whether the whole text matches a pattern in which `*` stands for any characters, also none. Not with a regular expression:
 * a pattern with many `*` would take too long for a long text.
 */
export function matchesWildcards(pattern: string, text: string): boolean {
  const [start = '', ...parts] = pattern.split('*');
  const end = parts.pop();
  if (end === undefined) return pattern === text;
  if (!text.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - end.length >= at && text.endsWith(end);
}
