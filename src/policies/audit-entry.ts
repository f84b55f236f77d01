import { auditRecords } from '../audit/audit-record.js';

export const entryOf = auditRecords<'create' | 'update' | 'delete' | 'reset' | 'delete_entity'>(
  'policies',
  'policy_usage_limits',
);
