/** The first revision without handshake and sessions. Its requests name their method and subject in headers. */
export const STATELESS_REVISION = '2026-07-28';
const REVISION = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text has the form of a revision of MCP, which is a date. */
export function isRevision(text: string): boolean {
  return REVISION.test(text);
}

/** Whether a revision has no sessions. A text that is not a revision, as the name of a draft, counts as older. */
export function isStateless(revision: string): boolean {
  // Dates of this form sort as text. Any word would sort after them.
  return isRevision(revision) && revision >= STATELESS_REVISION;
}
