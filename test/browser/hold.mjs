/** Keeps requests of a page back. @returns what lets them go, and all that follow */
export async function hold(page, pattern) {
  const held = [];
  let isHolding = true;
  await page.route(pattern, (route) => (isHolding ? void held.push(route) : route.continue()));
  return async () => {
    isHolding = false;
    for (const route of held) await route.continue();
  };
}
