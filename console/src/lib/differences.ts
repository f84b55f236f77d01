/** What is different in the body of a change, so that what someone else changed meanwhile stays. */
export function differences<Body extends object>(before: Body, next: Body): Partial<Body> {
  const changed: Partial<Body> = { ...next };
  for (const name in next) {
    if (JSON.stringify(before[name]) === JSON.stringify(next[name])) delete changed[name];
  }
  return changed;
}
