import { useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

/** Of a mutation, what says when its act has ended. */
export type Sent = Pick<UseMutationResult, 'isPending' | 'submittedAt'>;

/**
 * Sends once. Clicks can come faster than the page shows that it sends: the second one of a double click must not rotate a key
 * again.
 * @param sent what sends; the next act waits for its end
 */
export function useOnce(sent: Sent) {
  const queries = useQueryClient();
  const isBusy = useRef(false);
  useEffect(() => {
    if (!sent.isPending) isBusy.current = false;
    // An act may end before a render has seen that it is pending.
  }, [sent.isPending, sent.submittedAt]);
  return async (act: () => unknown): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    const before = queries.isMutating();
    await act();
    // What the form itself refuses is not sent.
    if (queries.isMutating() <= before) isBusy.current = false;
  };
}
