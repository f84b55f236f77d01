/** Of credentials that others give: a call that begins with them ends before they do, also where clocks differ a little. */
const RENEW_BEFORE_EXPIRY_MS = 5 * 60_000;

/** Whether a credential can still be used; if not, it is time for the next one. Both in Unix milliseconds. */
export function outlastsCalls(expiresAt: number, now: number): boolean {
  return expiresAt - now > RENEW_BEFORE_EXPIRY_MS;
}
