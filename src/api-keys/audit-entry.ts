import { auditRecords } from '../audit/audit-record.js';

export const entryOf = auditRecords<'create' | 'update' | 'rotate' | 'delete'>('api_keys', 'api-key');
