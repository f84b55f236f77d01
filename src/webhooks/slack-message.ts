// Incoming webhooks of Slack take {"text": "..."} in mrkdwn. Source: https://docs.slack.dev/messaging/formatting-message-text, read 2026-11-26.
import { isObject, parseForeignJson } from '../common/json/read.js';
import type { EventContent } from './webhook-message.js';

const TITLES: Readonly<Record<string, string>> = {
  'usage_limit.threshold_reached': 'A usage limit has reached its alert threshold',
  'usage_limit.exhausted': 'A usage limit is used up',
  'usage_limit.reset': 'The usage of a group was reset',
  'usage_limit.groups_nearly_full': 'A usage limit has nearly all the groups that it may have',
  'api_key.expiring': 'An API key is about to expire',
  'virtual_key.expiring': 'A virtual key is about to expire',
  'virtual_key.credential_refused': 'A provider refuses the credential of a virtual key',
  'secret_reference.failed': 'A secret cannot be read',
  'mcp_server.tools_changed': 'Tools of an MCP server have changed',
  'webhook.disabled': 'A webhook endpoint was disabled',
  'webhook.test': 'A test of this webhook endpoint',
};
const MAX_LINES = 20;
/** Slack cuts messages off at 40,000 characters. */
const MAX_VALUE = 500;

/** An event as a message: its title, and a line for each of its values. */
export function slackBody({ type, occurredAt, data }: EventContent): string {
  const lines = linesOf(parseForeignJson(data), '').slice(0, MAX_LINES);
  const title = `*${TITLES[type] ?? escaped(type)}*`;
  return JSON.stringify({ text: [title, ...lines, `_${type}, ${occurredAt.toISOString()}_`].join('\n') });
}

function linesOf(value: unknown, path: string): readonly string[] {
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, part]) => linesOf(part, path === '' ? name : `${path}.${name}`));
  }
  if (value === null || value === undefined || value === '') return [];
  return [`• ${escaped(path)}: ${escaped(textOf(value)).slice(0, MAX_VALUE)}`];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Otherwise a name could hold a link, or call everybody of a channel. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
