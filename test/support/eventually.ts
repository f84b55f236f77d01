const PAUSE_MS = 20;

/** Repeats the check until it returns true; fails after `withinMs`. */
export async function eventually(isSo: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`it was not so within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
