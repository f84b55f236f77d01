import { useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

/**
 * Sends once. Clicks can come faster than the page shows that it sends: the second one of a double click must not rotate a key
 * again.
 * @param sent what sends; the next act waits for its end
 */
export function useOnce(sent: Pick<UseMutationResult, 'error' | 'isPending'>) {
  const queries = useQueryClient();
  const isBusy = useRef(false);
  useEffect(() => {
    if (!sent.isPending) isBusy.current = false;
  }, [sent.isPending, sent.error]);
  return async (act: () => unknown): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    const before = queries.isMutating();
    await act();
    // What the form itself refuses is not sent.
    if (queries.isMutating() <= before) isBusy.current = false;
  };
}
