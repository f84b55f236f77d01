/** `expired`: its time is over. */
export function expiryStatus(expiresAt: Date | null, now: Date): 'active' | 'expired' {
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}
