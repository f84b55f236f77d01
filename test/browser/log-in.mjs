/** Logs a new tab in with a key, and waits for the console. */
export async function logIn(tabs, address, key) {
  const page = await tabs.newPage();
  await page.goto(address);
  await page.getByLabel('API key').fill(key);
  const shell = page.getByRole('navigation', { name: 'Pages of the console' });
  const refusal = page.locator('form [role=alert]').first();
  const submit = () => page.getByRole('button', { name: 'Log in', exact: true }).click();
  try {
    await submit();
    await shell.or(refusal).first().waitFor();
    // A gateway that is busy may refuse once, and says so.
    if (await refusal.isVisible()) {
      await page.waitForTimeout(2_000);
      await submit();
    }
    await shell.waitFor();
  } catch (cause) {
    throw new Error(`the page does not log in, but shows: ${await page.locator('body').innerText()}`, { cause });
  }
  return page;
}
