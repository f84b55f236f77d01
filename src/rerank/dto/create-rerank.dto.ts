import { ApiProperty } from '@nestjs/swagger';
import { Allow, IsBoolean, IsInt, IsNotEmpty, IsNumber, IsString, Min } from 'class-validator';
import { AcceptedBy } from '../../common/validation/body-rules.js';
import { Items, MaxFields } from '../../common/validation/bounded-fields.js';
import { OptionalOrNull } from '../../common/validation/optional.decorator.js';
import { FOREIGN_OPTIONS, type RerankDocument } from '../rerank.types.js';
import { AreDocuments, IsBooleanOrItsText, isRerankBody, MAX_PARAMETERS, MAX_RANK_FIELDS } from './is-rerank-body.js';

/**
 * Body of POST /v1/rerank. No rule here may need a conversion, since accepted bodies are used unchanged. For every
 * optional field, null is absence. Options of other rerank APIs are allowed as well.
 */
@AcceptedBy(isRerankBody)
export class CreateRerankDto {
  /**
   * Model of the provider. Bedrock: a model ARN. Azure AI: the deployment's model name behind `cohere.`.
   * @example "bm25"
   */
  @IsString()
  @IsNotEmpty()
  readonly model: string;

  /**
   * The text that the documents are scored against.
   * @example "How do I rotate a gateway key?"
   */
  @IsString()
  @IsNotEmpty()
  readonly query: string;

  /** Strings, or objects with a `text`. At least one. */
  @ApiProperty({
    type: 'array',
    minItems: 1,
    items: {
      oneOf: [
        { type: 'string' },
        { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: true },
      ],
    },
    example: ['To rotate a gateway key, post to /v1/api-keys/{id}/rotate.', { text: 'Bananas are yellow.' }],
  })
  @AreDocuments()
  readonly documents: RerankDocument[];

  /** How many results to return; all when omitted, and never more than there are documents. */
  @OptionalOrNull()
  @IsInt()
  @Min(1)
  readonly top_n?: number | null;

  /** Another name for `top_n`, which takes precedence. */
  @OptionalOrNull()
  @IsInt()
  @Min(1)
  readonly top_k?: number | null;

  /** Whether results carry their document. Default: false. */
  @ApiProperty({ type: Boolean, required: false, nullable: true })
  @OptionalOrNull()
  @IsBooleanOrItsText()
  readonly return_documents?: boolean | 'true' | 'false' | null;

  /** Longer documents are cut. Cohere only. */
  @OptionalOrNull()
  @IsInt()
  @Min(1)
  readonly max_tokens_per_doc?: number | null;

  /** Priority of the request. Cohere only. */
  @OptionalOrNull()
  @IsNumber()
  readonly priority?: number | null;

  /** Fields of object documents that are ranked. Pinecone only. */
  @OptionalOrNull()
  @Items({ max: MAX_RANK_FIELDS })
  @IsString({ each: true })
  readonly rank_fields?: string[] | null;

  /** Whether documents over the model's context length are cut. Voyage only. */
  @OptionalOrNull()
  @IsBoolean()
  readonly truncation?: boolean | null;

  /** Further parameters of the model. Pinecone only. */
  @OptionalOrNull()
  @MaxFields(MAX_PARAMETERS, Infinity)
  readonly parameters?: Record<string, unknown> | null;
}

for (const name of FOREIGN_OPTIONS) if (name !== 'top_k') Allow()(CreateRerankDto.prototype, name);
