import { describe, expect, it } from '@jest/globals';
import { folderOf, s3Address, s3FileRequest, toFileId } from './s3-file.js';

const ADDRESS = 's3://my-bucket.x/a/b_(1).jsonl';

describe('s3Address', () => {
  it.each([ADDRESS, 's3://bucket', 's3://bucket/', 's3://bucket/a/'])(
    'reads the S3 address %s and its id',
    (address) => {
      expect(s3Address(address)).toBe(address);
      expect(s3Address(toFileId(address))).toBe(address);
    },
  );

  it.each([
    'file-abc123',
    'https://bucket/a',
    's3://b',
    's3://Bucket/a',
    's3://bucket//a',
    's3://bucket/a b',
    's3://bucket/a?x',
    's3://bucket/a%2f',
    `s3://bucket/${'a'.repeat(1_024)}`,
    toFileId('https://bucket/a'),
    `${toFileId(ADDRESS)}=`,
    7,
    null,
  ])('refuses %j as an S3 address', (value) => {
    expect(s3Address(value)).toBeUndefined();
  });
});

describe('folderOf', () => {
  it.each([
    ['s3://bucket/a/b.jsonl', 's3://bucket/a/'],
    ['s3://bucket/b.jsonl', 's3://bucket/'],
    ['s3://bucket/a/', undefined],
    ['s3://bucket/', undefined],
    ['s3://bucket', undefined],
  ])('returns the folder of %s: %s', (address, folder) => {
    expect(folderOf(address)).toBe(folder);
  });
});

describe('s3FileRequest', () => {
  it('names bucket and key in the path, encoded as S3 does before it checks a signature', () => {
    expect(s3FileRequest("s3://my-bucket.x/a b/c_(1)'*!.jsonl", 'us-east-1')).toMatchObject({
      method: 'GET',
      path: '/my-bucket.x/a%20b/c_%281%29%27%2A%21.jsonl',
      region: 'us-east-1',
      plane: 'files',
    });
  });

  it.each(['s3://bucket', 's3://bucket/', 's3://bucket/a/'])('reads no file at %s', (address) => {
    expect(s3FileRequest(address, undefined)).toBeUndefined();
  });
});

describe('toFileId', () => {
  it('returns null for a missing address', () => {
    expect(toFileId(undefined)).toBeNull();
  });
});
