import type { UseFormRegister } from 'react-hook-form';
import type { BodyLogging } from '../api/types.gen';
import { Field, FieldSet, Input } from '../components/ui/field';

/** As the form has them: texts of inputs. */
export interface BodyLogValues {
  readonly keepsBodies: boolean;
  readonly bodyLog: { readonly percent: string; readonly kilobytes: string; readonly days: string };
}

const DEFAULTS: BodyLogging = { sample_rate: 1, max_bytes: 65_536, retention_days: 7 };
const KILOBYTE = 1_024;

export function bodyLogValues(rules: BodyLogging | null): BodyLogValues {
  const { sample_rate: rate, max_bytes: bytes, retention_days: days } = rules ?? DEFAULTS;
  return {
    keepsBodies: rules !== null,
    bodyLog: {
      percent: String(Number((rate * 100).toFixed(2))),
      kilobytes: String(bytes / KILOBYTE),
      days: String(days),
    },
  };
}

export function bodyLogRules({
  keepsBodies,
  bodyLog: { percent, kilobytes, days },
}: BodyLogValues): BodyLogging | null {
  if (!keepsBodies) return null;
  return {
    sample_rate: Number(percent) / 100,
    max_bytes: Math.round(Number(kilobytes) * KILOBYTE),
    retention_days: Number(days),
  };
}

interface BodyLogFieldsProps {
  readonly register: UseFormRegister<BodyLogValues>;
  readonly isOn: boolean;
}

/** Whether what calls send and get is kept, how much of it, and for how long. */
export function BodyLogFields({ register, isOn }: BodyLogFieldsProps) {
  return (
    <FieldSet legend="Bodies of calls" param="log_bodies">
      <label className="flex items-center gap-2">
        <input type="checkbox" className="size-4 shrink-0 accent-accent" {...register('keepsBodies')} />
        Keep what calls send and get
      </label>
      <p className="text-xs text-muted">
        Encrypted, apart from the database, and for callers with the scope logs.bodies alone. The gateway needs a store
        for that (REQUEST_LOG_BODIES).
      </p>
      {isOn && (
        <div className="grid gap-4 sm:grid-cols-3">
          <Field label="Percent of the calls" param="log_bodies.sample_rate">
            {(tie) => (
              <Input {...tie} {...register('bodyLog.percent')} type="number" min={0.01} max={100} step="any" required />
            )}
          </Field>
          <Field label="KiB of each body" param="log_bodies.max_bytes">
            {(tie) => (
              <Input {...tie} {...register('bodyLog.kilobytes')} type="number" min={1} max={1024} step="any" required />
            )}
          </Field>
          <Field label="Days" param="log_bodies.retention_days">
            {(tie) => <Input {...tie} {...register('bodyLog.days')} type="number" min={1} max={3660} required />}
          </Field>
        </div>
      )}
    </FieldSet>
  );
}
