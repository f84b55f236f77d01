export const MODALITIES = ['text', 'image', 'audio', 'video', 'pdf'] as const;
export type Modality = (typeof MODALITIES)[number];

export interface ModelFacts {
  /** The most tokens of one request; for a reranker, of the query with one document. */
  readonly contextWindow: number;
  /** The most tokens of one answer; 0 for a model that writes none. */
  readonly maxOutput: number;
  readonly inputModalities: readonly Modality[];
  readonly outputModalities: readonly Modality[];
  /** The page with these facts, and the day when it was read. */
  readonly source: string;
  readonly readOn: string;
}
