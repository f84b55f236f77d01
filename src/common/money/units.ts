/** The units that a policy counts: money in billionths of a US dollar, or tokens. Both are whole numbers. */
export const UNITS = ['cost', 'tokens'] as const;
export type UsageUnit = (typeof UNITS)[number];

/**
 * Billionths of a US dollar: integers, since floats lose money. PostgreSQL's bigint holds up to 9.2 billion dollars.
 */
export type NanoDollars = bigint;
