/** What a policy counts: money in billionths of a US dollar, or tokens. Both whole numbers. */
export type UsageUnit = 'cost' | 'tokens';

/** Billionths of a US dollar: integers, since floats lose money. bigint holds 9.2 billion dollars of them in PostgreSQL. */
export type NanoDollars = bigint;
