/** Whether two addresses lead to different hosts. What is no URL is compared as it is. */
export function isOtherHost(before: unknown, after: unknown): boolean {
  return originOf(before) !== originOf(after);
}

/**
 * What an update lacks that changes where a stored secret goes; reads on from the name of the secret. Otherwise whoever may
 * change a resource could have its secrets sent to a host of their own.
 * @param address the field that has another host now
 */
export function mustResend(address: string): string {
  return `must be sent again when ${address} changes to another host`;
}

function originOf(address: unknown): unknown {
  return typeof address === 'string' && URL.canParse(address) ? new URL(address).origin : address;
}
