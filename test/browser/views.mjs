const LONG = 'A-name-that-someone-has-made-far-too-long-for-any-column-of-a-table-without-a-single-space-in-it';
const HOOK = `https://hooks.example.com/${LONG}`;

const press = (name) => (page) => page.getByRole('button', { name, exact: true }).first().click();
/** A dialog whose form is filled by what the gateway says. */
const answered = (name, text) => async (page) => {
  await press(name)(page);
  await page.getByRole('dialog').getByText(text).first().waitFor();
};

const view = (name, place, open) => ({ name, place, open });

/** Every page and dialog: its name, its address, and what opens it there. */
export const VIEWS = [
  view('overview', ''),
  view('limits', 'limits'),
  view('limit', 'limits/long-limit'),
  view('change-limit', 'limits/long-limit', press('Change')),
  view('limit-reset', 'limits/used-limit', press('Archive')),
  view('new-limit', 'limits', answered('New limit', /No such call|would have reached|What groups have used/)),
  view('keys', 'keys'),
  view('new-key', 'keys', press('New key')),
  view('made-key', 'keys', makeKey),
  view('delete-key', 'keys?search=far-too-long', press(`Delete ${LONG} key`)),
  view('providers', 'providers'),
  view('new-virtual-key', 'providers', press('New virtual key')),
  view('change-virtual-key', 'providers', press(`Change ${LONG} virtual key`)),
  view('new-reference', 'providers', press('New reference')),
  view('routes', 'models'),
  view('new-route', 'models', press('New route')),
  view('change-route', 'models', openTargets),
  view('delete-route', 'models', press(`Delete ${LONG.slice(0, 60)}-route`)),
  view('catalogue', 'models?view=catalogue'),
  view('prices', 'models?view=prices'),
  view('new-price', 'models?view=prices', press('New price')),
  view('mcp', 'mcp'),
  view('new-server', 'mcp', press('New server')),
  view('server', 'mcp/pictured'),
  view('change-server', 'mcp/pictured', press('Change')),
  view('delete-server', 'mcp/pictured', press('Delete')),
  view('call-tool', 'mcp/pictured', press('Call create_issue')),
  view('called-tool', 'mcp/pictured', callTool),
  view('playground', 'playground'),
  view('calls', 'calls'),
  view('call', 'calls', (page) => page.getByRole('button', { name: /^Show/ }).first().click()),
  view('call-bodies', 'calls?search=gpt-4.1-mini', showBodies),
  view('audit', 'audit'),
  view('audit-entry', 'audit', (page) =>
    page
      .getByRole('button', { name: /^Show virtual_keys/ })
      .first()
      .click(),
  ),
  view('settings', 'settings'),
  view('workspaces', 'settings?view=workspaces'),
  view('change-workspace', 'settings?view=workspaces', press(`Change ${LONG}`)),
  view('bodies-of-workspace', 'settings?view=workspaces', openBodyLog),
  view('new-workspace', 'settings?view=workspaces', press('New workspace')),
  view('delete-workspace', 'settings?view=workspaces', answered('Delete Default', 'belong to it')),
  view('members', 'settings?view=members'),
  view('webhooks', 'settings?view=webhooks'),
  view('deliveries', 'settings?view=webhooks', showDeliveries),
  view('new-webhook', 'settings?view=webhooks', chooseEvents),
  view('change-webhook', 'settings?view=webhooks', press(`Change ${HOOK}`)),
  view('rotate-webhook', 'settings?view=webhooks', press(`Rotate ${HOOK}`)),
  view('rotated-webhook', 'settings?view=webhooks', rotateSecret),
];

async function makeKey(page) {
  await press('New key')(page);
  await page.getByLabel('Name', { exact: true }).fill('for a picture');
  await press('Create key')(page);
  await page.getByText('Copy the key now').waitFor();
}

async function openTargets(page) {
  await press(`Change ${LONG.slice(0, 60)}-route`)(page);
  await page.getByRole('dialog').locator('summary').first().click();
  await press('Add a condition')(page);
}

async function callTool(page) {
  await press('Call create_issue')(page);
  await page.getByLabel('title', { exact: true }).fill('Broken link in the footer');
  await page.getByLabel('priority').selectOption('high');
  await press('Call the tool')(page);
  await page.getByText(/^created/).waitFor();
}

async function showBodies(page) {
  await page.getByRole('button', { name: /^Show/ }).first().click();
  await press('Show what was sent and answered')(page);
  await page.getByLabel('Answered', { exact: true }).waitFor();
}

async function openBodyLog(page) {
  await press(`Change ${LONG}`)(page);
  await page.getByLabel('Keep what calls send and get').check();
}

async function chooseEvents(page) {
  await press('New webhook')(page);
  await page.getByLabel('All, also those that come later').uncheck();
}

async function showDeliveries(page) {
  await page.getByRole('link', { name: `Deliveries ${HOOK}` }).click();
  await page.getByRole('button', { name: 'Send a test event' }).click();
  await page.getByRole('row', { name: /webhook\.test/ }).waitFor();
}

async function rotateSecret(page) {
  await press(`Rotate ${HOOK}`)(page);
  await press('Rotate')(page);
  await page.getByLabel('Secret of the webhook', { exact: true }).waitFor();
}

/** What the views show, with names that are too long. */
export async function fillViews({ ask, toolsUrl, providerUrl, call }) {
  const config = { base_url: providerUrl };
  const defaults = { metadata: { [LONG]: LONG } };
  await ask('/v1/workspaces', { name: LONG, slug: 'long', description: `${LONG} ${LONG}`, defaults });
  await ask('/v1/virtual-keys', {
    name: `${LONG} virtual key`,
    slug: 'long-vk',
    provider: 'openai-compatible',
    config,
  });
  await ask('/v1/model-routes', {
    name: `${LONG.slice(0, 60)}-route`,
    slug: 'long-route',
    targets: [
      { virtual_key: 'long-vk', model: `${LONG}/${LONG}` },
      { virtual_key: 'long-vk', model: 'gpt-4o-mini' },
    ],
  });
  await ask('/v1/secret-references', {
    name: `${LONG} reference`,
    manager_type: 'hashicorp_vault',
    secret_path: `secret/${LONG}`,
    auth_config: { vault_auth_type: 'token', vault_addr: 'http://127.0.0.1:9', vault_token: 'x' },
  });
  await ask('/v1/mcp-servers', {
    name: `${LONG} server`,
    slug: 'long-server',
    url: `https://${LONG.slice(0, 60)}.com/mcp`,
  });
  await ask('/v1/mcp-servers', { name: 'Issues of the team', slug: 'pictured', url: toolsUrl });
  await ask('/v1/mcp-servers/pictured/test', {});
  const limit = (name, slug, more) =>
    ask('/v1/policies/usage-limits', {
      name,
      slug,
      group_by: [{ key: 'api_key' }],
      type: 'tokens',
      credit_limit: 1_000,
      conditions: [{ key: 'model', value: '*' }],
      ...more,
    });
  await limit(`${LONG} limit`, 'long-limit', { conditions: [{ key: 'model', value: LONG }], enforcement: 'monitor' });
  await limit('Tokens of each application', 'used-limit', { periodic_reset: 'monthly' });
  await ask('/v1/webhooks', { url: HOOK, events: ['*'] });
  const of = { scopes: ['completions.write'], default_virtual_key: 'long-vk' };
  const { key } = await ask('/v1/api-keys', { name: `${LONG} key`, level: 'organisation', ...of });
  for (const model of ['gpt-4o-mini', 'gpt-4o', 'unknown']) await call(key, { model });
  await ask('/v1/workspaces', { name: 'Kept', slug: 'kept', log_bodies: {} });
  const kept = await ask('/v1/api-keys', { name: 'kept', level: 'workspace', workspace_id: 'kept', ...of });
  await call(kept.key, { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: LONG.repeat(3) }] });
}

/** Opens a view in a tab that is logged in; one that is behind a page that is open already, from there. */
export async function openView(page, address, { place, open }, previous) {
  if (place !== previous?.place || previous.open !== undefined) await page.goto(`${address}/${place}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForFunction(() => !document.body.innerText.includes('Loading…'));
  await open?.(page);
}
