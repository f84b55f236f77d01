import assert from 'node:assert/strict';
import { logIn } from './log-in.mjs';

/** Tools of MCP servers: their forms, their switches, and what a server gets of a client. */
export const tools = [
  {
    title:
      'A tool is called from a form that its schema makes, as the person who is logged in, and the call is in the log',
    run: async ({ tabs, page: address, ask, toolsUrl, nextUser }) => {
      await ask('/v1/mcp-servers', { name: 'Issues', slug: 'issues', url: toolsUrl });
      nextUser({ sub: 'ann', groups: ['owners'] });
      const page = await tabs.newPage();
      await page.goto(`${address}/mcp/issues`);
      await page.getByRole('link', { name: 'Log in with your organisation' }).click();
      await page.getByRole('button', { name: 'Read from the server' }).click();
      await page.getByRole('button', { name: 'Call create_issue' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('title', { exact: true }).fill('Broken "quotes"');
      await form.getByLabel('priority').selectOption('high');
      await form.getByLabel('estimate').fill('1.5');
      await form.getByRole('button', { name: 'Call the tool' }).click();
      await form.getByText('This must be a whole number.').waitFor();
      assert.ok(await form.getByLabel('estimate').evaluate((field) => field === document.activeElement));
      await form.getByLabel('estimate').fill('3');
      await form.getByLabel('labels').fill('ui\nbug');
      await form.getByLabel('details').fill('{"a": [1]}');
      await form.getByRole('button', { name: 'Call the tool' }).click();
      const answer = form.getByRole('region', { name: 'Answer of the tool' });
      const sent = {
        title: 'Broken "quotes"',
        priority: 'high',
        estimate: 3,
        labels: ['ui', 'bug'],
        details: { a: [1] },
      };
      await answer.getByText(`created ${JSON.stringify(sent)}`).waitFor();
      await form.getByRole('button', { name: 'As JSON' }).click();
      await form.getByLabel('Arguments as JSON').fill('{"title": 1}');
      await form.getByRole('button', { name: 'Call the tool' }).click();
      await answer.getByText(/tool failed|server refused/).waitFor();
      await form.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Call delete_issue' }).click();
      await form.getByText('The tool takes no arguments.').waitFor();
      await form.getByRole('button', { name: 'Call the tool' }).click();
      await answer.getByText('the issue is locked').waitFor();
      await form.getByRole('button', { name: 'Close' }).click();
      const row = page.getByRole('row', { name: /delete_issue/ });
      await row.getByText('tool failed').waitFor();
      await row.getByText('ann', { exact: true }).waitFor();
      await page.getByLabel('Enable delete_issue').click();
      await page.getByRole('button', { name: 'Call delete_issue', disabled: true }).waitFor();

      // A tool that fails has the status 200, and is not among the calls that succeeded.
      const failed = page.getByRole('row', { name: /tools\/call.*tool failed/ });
      await page.goto(`${address}/calls?status=ok`);
      await page
        .getByRole('row', { name: /tools\/call/ })
        .first()
        .waitFor();
      assert.equal(await failed.count(), 0);
      await page.getByLabel('Status').selectOption('Failed');
      await failed.first().getByRole('button', { name: /^Show/ }).click();
      await form.getByText('delete_issue', { exact: true }).waitFor();
      await form.getByText('tool failed', { exact: true }).waitFor();
    },
  },
  {
    title: 'Arguments that may be null have plain fields, JSON keeps what was typed, and a switch keeps the focus',
    run: async ({ tabs, page: address, adminKey, ask, toolsUrl }) => {
      await ask('/v1/mcp-servers', { name: 'Finds', slug: 'finds', url: toolsUrl });
      await ask('/v1/mcp-servers/finds/test', {});
      const page = await logIn(tabs, `${address}/mcp/finds`, adminKey);
      await page.getByRole('button', { name: 'Call find_issues' }).click();
      const form = page.getByRole('dialog');
      await form.getByLabel('text', { exact: true }).fill('crash');
      await form.getByLabel('team').fill('blue');
      await form.getByLabel('limit').fill('many');
      await form.getByText('{"street":"","zip":0}').waitFor();
      await form.getByRole('button', { name: 'Call the tool' }).click();
      await form.getByText('This must be a number.').waitFor();
      await form.getByLabel('limit').fill('');
      await form.getByRole('button', { name: 'As JSON' }).click();
      const json = form.getByLabel('Arguments as JSON');
      assert.deepEqual(JSON.parse(await json.inputValue()), { text: 'crash', team: 'blue' });
      await json.fill('{"text": "freeze", "team": "blue", "limit": 3}');
      await form.getByRole('button', { name: 'Form' }).click();
      assert.equal(await form.getByLabel('text', { exact: true }).inputValue(), 'freeze');
      await form.getByRole('button', { name: 'Call the tool' }).click();
      await form.getByText('found by {"text":"freeze","team":"blue","limit":3}').waitFor();
      await form.getByRole('button', { name: 'Close' }).click();
      const toggle = page.getByLabel('Enable find_issues');
      await toggle.focus();
      for (const isOn of [false, true]) {
        await Promise.all([page.waitForResponse(/\/tools\?/), page.keyboard.press('Space')]);
        assert.equal(await toggle.isChecked(), isOn);
      }
    },
  },
  {
    title: 'Switches that are set while an earlier change is on its way show what was chosen, and it comes in order',
    run: async ({ tabs, page: address, adminKey, ask, toolsUrl }) => {
      await ask('/v1/mcp-servers', { name: 'Switched', slug: 'switched', url: toolsUrl });
      await ask('/v1/mcp-servers/switched/test', {});
      const page = await logIn(tabs, `${address}/mcp/switched`, adminKey);
      const sent = [];
      const held = [];
      await page.route(/\/v1\/mcp-servers\/[^/]+\/tools$/, (route) => {
        sent.push(route.request().postDataJSON().tools[0]);
        if (sent.length > 1) return route.continue();
        held.push(route);
        return undefined;
      });
      const [first, second] = ['create_issue', 'find_issues'].map((name) => page.getByLabel(`Enable ${name}`));
      await first.click();
      await second.click();
      await page.waitForTimeout(1_000);
      assert.deepEqual([await first.isChecked(), await second.isChecked()], [false, false]);
      assert.equal(sent.length, 1);
      await first.click();
      await held[0].continue();
      await page.waitForResponse(() => sent.length === 3);
      await page.getByLabel('Enable find_issues', { checked: false }).waitFor();
      assert.deepEqual([await first.isChecked(), await second.isChecked()], [true, false]);
      const { data } = await ask('/v1/mcp-servers/switched/tools');
      const states = data.map(({ name, enabled }) => [name, enabled]);
      assert.deepEqual(Object.fromEntries(states), { create_issue: true, delete_issue: true, find_issues: false });
    },
  },
  {
    title: 'The preview of headers says what is wrong with a line, and a wrong key in it leaves the page as it is',
    run: async ({ tabs, page: address, adminKey, ask, toolsUrl }) => {
      await ask('/v1/mcp-servers', { name: 'Previewed', slug: 'previewed', url: toolsUrl });
      const page = await logIn(tabs, `${address}/mcp/previewed`, adminKey);
      const sent = page.getByLabel('What the client sends');
      for (const [text, problem] of [
        ['x-team: search\nno header', 'Line 2 is not a header'],
        ['x-team: 検索', 'Line 1 has a character that headers cannot have.'],
        ['x-gateway-api-key: tg_wrong', 'The gateway API key is missing or not valid.'],
      ]) {
        await sent.fill(text);
        await page.getByRole('button', { name: 'Preview' }).click();
        await page.getByText(problem).waitFor();
        assert.equal(await sent.inputValue(), text);
      }
    },
  },
];
