export const MODALITIES = ['text', 'image', 'audio', 'video', 'pdf'] as const;
export type Modality = (typeof MODALITIES)[number];

export interface ModelFacts {
  /** Tokens that one request can have at most: of a reranker the query with one document. */
  readonly contextWindow: number;
  /** Tokens that one answer can have at most; 0: the model writes none. */
  readonly maxOutput: number;
  readonly inputModalities: readonly Modality[];
  readonly outputModalities: readonly Modality[];
  /** Where it was read, and on which day. */
  readonly source: string;
  readonly readOn: string;
}
