import { describe, expect, it } from '@jest/globals';
import { SecretMapping } from './secret-mapping.entity.js';
import { inUse } from './secret-references.service.js';

function mapping(owner: number, targetField = 'key'): SecretMapping {
  return Object.assign(new SecretMapping(), {
    ownerType: 'virtual-key',
    ownerId: `id-${owner}`,
    ownerSlug: `slug-${owner}`,
    targetField,
  });
}

describe('inUse', () => {
  it('names each user of a reference once, for any number of uses', () => {
    const error = inUse([mapping(1), mapping(1, 'config.aws_secret_access_key'), mapping(2)]);
    expect(error.code).toBe('conflict');
    expect(error.message).toBe('The secret reference is in use by virtual-key slug-1, virtual-key slug-2.');
  });

  it('names ten users and counts all', () => {
    const { message } = inUse(Array.from({ length: 11 }, (_item, index) => mapping(index)));
    expect(message).toContain('virtual-key slug-9 and others, 11 in all');
    expect(message).not.toContain('slug-10');
  });

  it('reports a user that only the database knows', () => {
    expect(inUse([]).message).toBe('The secret reference is in use.');
  });
});
