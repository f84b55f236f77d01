/** Whether `work`, which must not reject, was done within the time. */
export async function doneWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<boolean>((done) => {
    timer = setTimeout(() => done(false), limitMs);
  });
  const inTime = await Promise.race([work.then(() => true), limit]);
  clearTimeout(timer);
  return inTime;
}
