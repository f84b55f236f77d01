import type { ModelAnswer } from '../telemetry/gen-ai.js';
import type { StreamMeter } from './billable-use.js';

const INPUT_UNITS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'input_audio', 'input_image'] as const;

/** The facts that a meter has read of an answer; undefined when it reads only the usage. */
export function modelAnswerOf(
  { answer, usage: { counts } }: StreamMeter,
  firstTokenMs: number | undefined,
): ModelAnswer | undefined {
  if (answer === undefined) return undefined;
  return {
    id: answer.id,
    model: answer.model,
    finishReason: answer.finishReason,
    inputTokens: sumOfKnown(INPUT_UNITS.map((unit) => counts[unit])),
    cacheReadTokens: counts.cache_read,
    cacheWriteTokens: sumOfKnown([counts.cache_write_5m, counts.cache_write_1h]),
    outputTokens: counts.output,
    firstTokenMs,
  };
}

/** The sum of the known figures; undefined when none is known. */
export function sumOfKnown(figures: readonly (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, figure) => sum + figure, 0);
}

type Counted = Readonly<Record<string, number>>;

/** The sum of two attempts, by unit. */
export function sumOfUnits(one: Counted, other: Counted): Counted {
  const sum: Record<string, number> = { ...one };
  for (const [unit, quantity] of Object.entries(other)) sum[unit] = (sum[unit] ?? 0) + quantity;
  return sum;
}
