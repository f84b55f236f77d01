import { PROVIDER_SLUGS, type ProviderSlug } from '../../upstream/providers/provider.types.js';
import { MODALITIES, type Modality, type ModelFacts } from '../models/model-facts.js';
import { formatTable, oneOf, parseTable, remembering, wholeNumber } from './table.js';

const NAMES = ['provider', 'model', 'context_window', 'max_output', 'input', 'output', 'source', 'read'];
const BETWEEN = '+';

export interface KnownModel {
  readonly provider: ProviderSlug;
  readonly model: string;
  readonly facts: ModelFacts;
}

/** @throws Error for an invalid row */
export function parseModelRows(text: string): readonly KnownModel[] {
  return parseTable(NAMES, text).map((cells) => {
    const [provider = '', model = '', window = '', most = '', input = '', output = '', source = '', readOn = ''] =
      cells;
    if (model === '' || source === '') throw new Error(`a row of the snapshot is not whole: ${cells.join(',')}`);
    return {
      provider: oneOf(PROVIDER_SLUGS, provider),
      model,
      facts: {
        contextWindow: wholeNumber(window),
        maxOutput: wholeNumber(most),
        inputModalities: modalitiesOf(input),
        outputModalities: modalitiesOf(output),
        source,
        readOn,
      },
    };
  });
}

export function formatModelRows(models: readonly KnownModel[]): string {
  const rows = models.map(({ provider, model, facts }) => [
    provider,
    model,
    facts.contextWindow,
    facts.maxOutput,
    facts.inputModalities.join(BETWEEN),
    facts.outputModalities.join(BETWEEN),
    facts.source,
    facts.readOn,
  ]);
  return formatTable(NAMES, rows);
}

const modalitiesOf = remembering((text: string): readonly Modality[] => {
  const names = text.split(BETWEEN);
  return MODALITIES.filter((modality) => names.includes(modality));
});
