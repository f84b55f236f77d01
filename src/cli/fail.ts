/** Prints the error and ends the process with this code when its work is done. */
export function exitWithError(message: string, code: number): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = code;
}
