const PAUSE_MS = 20;

/** For what a test waits for without proving how long it takes. */
const PATIENT_MS = 30_000;

/** Repeats the check until it returns true; fails after `withinMs`. */
export async function eventually(isSo: () => boolean | Promise<boolean>, withinMs = PATIENT_MS): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`it was not so within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
