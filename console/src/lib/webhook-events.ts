import type { CreateWebhookEndpointRequest } from '../api/types.gen';

export type EventName = CreateWebhookEndpointRequest['events'][number];

/** Events of the gateway in words. */
export const EVENTS: Readonly<Record<Exclude<EventName, '*' | 'webhook.test'>, string>> = {
  'usage_limit.threshold_reached': 'A limit reaches its alert threshold',
  'usage_limit.exhausted': 'A limit is used up',
  'usage_limit.reset': 'The usage of a group is reset',
  'usage_limit.groups_nearly_full': 'A limit has nearly all the groups that it may have',
  'api_key.expiring': 'An API key is about to expire',
  'virtual_key.expiring': 'A virtual key is about to expire',
  'virtual_key.credential_refused': 'A provider refuses the credential of a virtual key',
  'secret_reference.failed': 'A secret cannot be read',
  'mcp_server.tools_changed': 'Tools of an MCP server change',
  'webhook.disabled': 'A webhook is turned off',
};

/** Events that are delivered: the test event is sent on request, to any webhook. */
export const DELIVERED = { ...EVENTS, 'webhook.test': 'A test' } as const;
