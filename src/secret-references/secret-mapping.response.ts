import type { MappedField, ValueFormat } from './secret-mapping.entity.js';

/** A field that takes its value from a secret reference whenever it is used. */
export class SecretMappingResponse {
  /** The field that gets the secret: `key`, `config.` and the name of an option, or `headers.` and the name of a header. */
  readonly target_field: string;
  /** Id of the secret reference. */
  readonly secret_reference_id: string;
  /** Key inside of the secret; null: the reference's own. */
  readonly secret_key: string | null;
  /** `json`: the value is parsed. */
  readonly value_format: ValueFormat;
}

export function toSecretMappingResponse(mapping: MappedField): SecretMappingResponse {
  return {
    target_field: mapping.targetField,
    secret_reference_id: mapping.secretReferenceId,
    secret_key: mapping.secretKey,
    value_format: mapping.valueFormat,
  };
}
