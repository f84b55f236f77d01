import { cn } from '../../lib/cn';

interface MeterProps {
  readonly label: string;
  readonly used: number;
  /** Held for calls in flight. */
  readonly reserved: number;
  readonly limit: number;
}

const ALMOST = 0.8;

/** How much of a limit is used, and how much is held for calls in flight. */
export function Meter({ label, used, reserved, limit }: MeterProps) {
  const share = (amount: number): number => (limit <= 0 ? 1 : Math.min(amount / limit, 1));
  const usedShare = share(used);
  const reservedShare = Math.min(share(reserved), 1 - usedShare);
  const tone = usedShare >= 1 ? 'bg-bad' : usedShare >= ALMOST ? 'bg-warn' : 'bg-accent';
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(usedShare * 100)}
      className="flex h-2 w-full min-w-24 overflow-hidden rounded-full bg-line"
    >
      <div className={cn('h-full', tone)} style={{ width: `${usedShare * 100}%` }} />
      <div className={cn('h-full opacity-40', tone)} style={{ width: `${reservedShare * 100}%` }} />
    </div>
  );
}
