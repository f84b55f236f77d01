/** With these, a client stops asking. */
export const ENDED_JOB_STATUSES = ['succeeded', 'failed', 'cancelled'] as const;
/** The states of a fine-tuning job in the interface. */
export const JOB_STATUSES = ['validating_files', 'queued', 'running', ...ENDED_JOB_STATUSES] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
