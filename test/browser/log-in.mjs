/** Logs a new tab in with a key, and waits for the console. */
export async function logIn(tabs, address, key) {
  const page = await tabs.newPage();
  await page.goto(address);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page
    .getByRole('navigation', { name: 'Pages of the console' })
    .waitFor()
    .catch(async (cause) => {
      throw new Error(`the page does not log in, but shows: ${await page.locator('body').innerText()}`, { cause });
    });
  return page;
}
