import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listAuditLogsOptions } from '../api/@tanstack/react-query.gen';
import type { AuditLogEntry } from '../api/types.gen';
import { Choose, FILTERS_LOOK } from '../components/list-tools';
import { Page, SearchBox } from '../components/page';
import { type Column, Table } from '../components/table';
import { TraceLink } from '../components/trace-link';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { Dialog } from '../components/ui/dialog';
import { When } from '../components/when';
import { dateTime } from '../lib/format';
import { useListSearch } from '../lib/list-search';
import { useNames } from '../lib/names';

/** Kinds of resources, as the log has them. */
const KINDS = {
  '': 'All resources',
  'api-key': 'API keys',
  log: 'Bodies of calls',
  policy_usage_limits: 'Limits',
  'mcp-server': 'MCP servers',
  'model-route': 'Model routes',
  price: 'Prices',
  'secret-reference': 'Secret references',
  session: 'Sessions',
  'virtual-key': 'Virtual keys',
  'webhook-endpoint': 'Webhooks',
  workspace: 'Workspaces',
} as const;

export function AuditPage() {
  const list = useListSearch();
  const kind = list.kind !== undefined && list.kind in KINDS ? list.kind : undefined;
  const filter = { ...(kind !== undefined && { resource_type: kind }) };
  const [shown, setShown] = useState<AuditLogEntry>();
  const entries = useQuery({
    ...listAuditLogsOptions({ query: { ...list.logPaging, ...filter } }),
    placeholderData: (previous) => previous,
  });
  return (
    <Page title="Audit log" intro="Who changed what, from what to what. Secrets show only that they changed.">
      <div className={FILTERS_LOOK}>
        <SearchBox value={list.search ?? ''} onSearch={list.onSearch} />
        <Choose label="Resource" value={kind ?? ''} options={KINDS} onChoose={list.onKind} />
      </div>
      <Card>
        <Table
          caption="Audit log"
          columns={columns(setShown)}
          query={entries}
          keyOf={({ id }) => id}
          empty="No change here."
          after={list.after}
          onAfter={list.onAfter}
          csv={{ path: '/v1/audit-logs', query: { search: list.search, ...filter } }}
        />
      </Card>
      {shown !== undefined && <Entry entry={shown} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

function columns(onShow: (entry: AuditLogEntry) => void): readonly Column<AuditLogEntry>[] {
  return [
    {
      title: 'Time',
      kind: 'short',
      cell: ({ created_at }) => <When at={created_at} />,
    },
    { title: 'Action', kind: 'short', cell: ({ action }) => <span className="font-mono text-xs">{action}</span> },
    {
      title: 'Resource',
      kind: 'name',
      cell: ({ resource_name, resource_id }) => <span className="wrap-anywhere">{resource_name ?? resource_id}</span>,
    },
    {
      title: 'By',
      cell: ({ actor_name, actor_id }) => <span className="inline-block md:min-w-28">{actor_name ?? actor_id}</span>,
    },
    { title: 'From', isExtra: 'wide', cell: ({ client_address }) => client_address ?? '–' },
    {
      title: 'Changes',
      cell: (entry) => (
        <Button
          size="small"
          aria-label={`Show ${entry.action} of ${entry.resource_name ?? entry.resource_id}`}
          onClick={() => onShow(entry)}
        >
          Show
        </Button>
      ),
    },
  ];
}

function Entry({ entry, onClose }: { readonly entry: AuditLogEntry; readonly onClose: () => void }) {
  const { action, created_at, trace_id, changes } = entry;
  const texts = Object.entries(changes).map(([field, change]) => [field, inWords(field, change)] as const);
  const nameIds = useNames(texts.map(([, text]) => text));
  return (
    <Dialog title={action} onClose={onClose}>
      <p className="text-muted">
        {dateTime(created_at)}
        {trace_id !== null && (
          <>
            {' '}
            · trace {trace_id} <TraceLink trace={trace_id} find="calls" />
          </>
        )}
      </p>
      <dl className="space-y-3">
        {texts.map(([field, text]) => (
          <div key={field}>
            <dt className="font-mono text-xs text-muted">{field}</dt>
            <dd>
              <pre className="overflow-x-auto rounded-md bg-raised p-2 font-mono text-xs whitespace-pre-wrap">
                {nameIds(text)}
              </pre>
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

/** What was, and what is. */
function inWords(field: string, change: unknown): string {
  if (typeof change !== 'object' || change === null || !('old' in change) || !('new' in change)) {
    return JSON.stringify(change, null, 2);
  }
  const { old: before, new: after } = change;
  if (before === null) return valueInWords(field, after);
  return `from ${valueInWords(field, before)}\nto   ${valueInWords(field, after)}`;
}

/** Times are Unix seconds in fields that end in `_at`. */
function valueInWords(field: string, value: unknown): string {
  if (typeof value === 'number' && field.endsWith('_at')) return dateTime(value);
  return JSON.stringify(value, null, 2);
}
