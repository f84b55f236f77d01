import { type ReactNode, useEffect, useRef } from 'react';

interface InViewProps {
  /** What is shown: the next one is brought into view too. */
  readonly of: unknown;
  readonly children: ReactNode;
}

/** What came of a button, and may lie below the end of its dialog. It moves there at once, without an animation. */
export function InView({ of, children }: InViewProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    ref.current?.scrollIntoView({ block: 'nearest' });
  }, [of]);
  return <div ref={ref}>{children}</div>;
}
