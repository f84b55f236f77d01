import { describe, expect, it } from '@jest/globals';
import { EVENT_TYPES } from './event-types.js';
import { slackBody } from './slack-message.js';

const AT = new Date('2026-11-26T08:00:00Z');
const textOf = (type: string, data: object): string =>
  JSON.parse(slackBody({ type, occurredAt: AT, data: JSON.stringify(data) })).text;

describe('slackBody', () => {
  it('has the title of the event and a line for each value', () => {
    const data = {
      policy_name: 'Search',
      bucket: { value_key: 'user:a' },
      alert_threshold: null,
      current_usage: 400.5,
    };
    expect(textOf('usage_limit.exhausted', data)).toBe(
      '*A usage limit is used up*\n• policy_name: Search\n• bucket.value_key: user:a\n• current_usage: 400.5\n' +
        '_usage_limit.exhausted, 2026-11-26T08:00:00.000Z_',
    );
  });

  it('has a title for every type of events', () => {
    for (const type of EVENT_TYPES) expect(textOf(type, {}).startsWith(`*${type}`)).toBe(false);
  });

  it('escapes what Slack would read as a link or a call', () => {
    expect(textOf('webhook.test', { name: '<!channel> & <https://x.example|y>' })).toContain(
      '&lt;!channel&gt; &amp; &lt;https://x.example|y&gt;',
    );
  });

  it('bounds lines and values', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 'x'.repeat(1_000)]));
    expect(textOf('webhook.test', many).length).toBeLessThan(12_000);
  });
});
