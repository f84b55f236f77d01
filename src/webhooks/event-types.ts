/** The types of events that the gateway sends. docs/guides/webhooks.md has an example of each. */
export const EVENT_TYPES = [
  'usage_limit.threshold_reached',
  'usage_limit.exhausted',
  'usage_limit.reset',
  'usage_limit.groups_nearly_full',
  'api_key.expiring',
  'virtual_key.expiring',
  'virtual_key.credential_refused',
  'secret_reference.failed',
  'mcp_server.tools_changed',
  'webhook.disabled',
  'webhook.test',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** What an endpoint may subscribe to; `*` also stands for events that are added later. */
export const SUBSCRIBABLE_EVENTS = [...EVENT_TYPES, '*'] as const;

export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];
