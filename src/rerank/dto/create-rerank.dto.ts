import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsInt, IsNotEmpty, IsNumber, IsObject, IsString, Min } from 'class-validator';
import { AcceptedBy } from '../../common/validation/body-rules.js';
import { AsGiven } from '../../common/validation/inherited-names.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import type { RerankDocument } from '../rerank.types.js';
import { AreDocuments, isRerankBody } from './is-rerank-body.js';

/** Body of POST /v1/rerank. No rule here may need a conversion, since accepted bodies are used unchanged. */
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
  @Optional()
  @IsInt()
  @Min(1)
  readonly top_n?: number;

  /** Whether results carry their document. Default: false. */
  @Optional()
  @IsBoolean()
  readonly return_documents?: boolean;

  /** Longer documents are cut. Cohere only. */
  @Optional()
  @IsInt()
  @Min(1)
  readonly max_tokens_per_doc?: number;

  /** Priority of the request. Cohere only. */
  @Optional()
  @IsNumber()
  readonly priority?: number;

  /** Fields of object documents that are ranked. Pinecone only. */
  @Optional()
  @IsArray()
  @IsString({ each: true })
  readonly rank_fields?: string[];

  /** Whether documents over the model's context length are cut. Voyage only. */
  @Optional()
  @IsBoolean()
  readonly truncation?: boolean;

  /** Further parameters of the model. Pinecone only. */
  @Optional()
  @IsObject()
  @AsGiven()
  readonly parameters?: Record<string, unknown>;
}
