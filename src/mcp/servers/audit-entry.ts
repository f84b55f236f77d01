import { auditRecords } from '../../audit/audit-record.js';

export const entryOf = auditRecords<'create' | 'update' | 'delete' | 'test'>('mcp_servers', 'mcp-server');
