/** Tells whoever ran the command what is wrong, and ends the process with this code when its work is over. */
export function exitWithError(message: string, code: number): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = code;
}
