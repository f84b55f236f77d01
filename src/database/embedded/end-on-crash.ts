/** Without its database a program is of no use, and PGlite cannot be restarted safely within the process. */
export function endOnCrash(cause: Error): void {
  process.stderr.write(`The embedded database has failed: ${cause.message}\n`);
  process.exit(1);
}
