import type { QueryClient } from '@tanstack/react-query';
import { client } from '../api/client.gen';
import { isRecord, type JsonRecord } from './record';

/**
 * Shows the answer to a change wherever the resource stands. The lists load again after it, but a form that is opened
 * before would begin with old values.
 */
export function showChanges(queries: QueryClient): void {
  client.interceptors.response.use(async (response, request) => {
    if (request.method === 'PATCH' && response.ok) show(queries, await response.clone().json());
    return response;
  });
}

function show(queries: QueryClient, changed: unknown): void {
  if (!isRecord(changed)) return;
  const holders = {
    predicate: ({ state }: { state: { data: unknown } }) => withChange(state.data, changed) !== state.data,
  };
  queries.setQueriesData(holders, (data: unknown) => withChange(data, changed));
}

/** The answer of a query, with the new state of what it shows; the same answer, if it does not show it. */
function withChange(data: unknown, changed: JsonRecord): unknown {
  if (!isRecord(data)) return data;
  if (isEarlier(data, changed)) return changed;
  const items: unknown = data['data'];
  if (!Array.isArray(items) || !items.some((item) => isEarlier(item, changed))) return data;
  return { ...data, data: items.map((item: unknown) => (isEarlier(item, changed) ? changed : item)) };
}

/** Whether a change of it was answered, whole. */
function isEarlier(item: unknown, changed: JsonRecord): boolean {
  return (
    isRecord(item) &&
    item !== changed &&
    item['id'] !== undefined &&
    item['id'] === changed['id'] &&
    // The health of a route has its id too.
    item['object'] === changed['object'] &&
    Object.keys(item).every((name) => name in changed)
  );
}
