import { describe, expect, it } from '@jest/globals';
import { foldField, isNamed } from './field-names.js';

describe('names of fields', () => {
  it.each(['sink_id', 'Sink_Id', 'SINK_ID', '\u017Fink_id', 'sin\u212A_id'])(
    'accepts the spelling %s of a field name',
    (spelling) => {
      expect(isNamed(spelling, 'sink_id')).toBe(true);
      expect(foldField(spelling)).toBe('sink_id');
    },
  );

  it.each(['sinkid', 'sink-id', 'sink_ids', ' sink_id', ''])('treats %j as another field name', (other) =>
    expect(isNamed(other, 'sink_id')).toBe(false),
  );
});
