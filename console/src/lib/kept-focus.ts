import { useLayoutEffect, useRef } from 'react';

/**
 * For a list whose rows go away: when the one with the focus does, the list gets the focus. Else the keyboard would begin at the
 * top of the page again.
 */
export function useKeptFocus() {
  const ref = useRef<HTMLDivElement>(null);
  const hasFocus = useRef(false);
  useLayoutEffect(() => {
    if (!hasFocus.current || document.activeElement !== document.body) return;
    const region = ref.current?.querySelector<HTMLElement>('[role=region]') ?? ref.current;
    region?.focus({ preventScroll: true });
  });
  return {
    ref,
    tabIndex: -1,
    className: 'outline-none',
    onFocus: () => {
      hasFocus.current = true;
    },
    // React is silent while it takes rows away, so that this is a choice of the person.
    onBlur: () => {
      hasFocus.current = false;
    },
  };
}
