/** How events are written: as server-sent events, or in the binary frames of AWS. */
export type EventFraming = 'server-sent' | 'aws';
