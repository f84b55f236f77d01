/** Runs cases one after the other, and returns how many passed and failed. */
export async function runCases(cases, milliseconds, context) {
  let passed = 0;
  let failed = 0;
  for (const { title, run } of cases) {
    try {
      await within(milliseconds, run(context()));
      passed += 1;
      console.log(`✓ ${title}`);
    } catch (error) {
      failed += 1;
      console.log(`✕ ${title}\n`, error);
    }
  }
  return { passed, failed };
}

/** Rejects when the work has no end in time. The work goes on. */
export function within(milliseconds, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
