/** `@slug/pattern`, or a pattern for every virtual key. */
const PATTERN = /^(?:@([a-zA-Z0-9_-]{1,255})\/)?(.*)$/s;
const ANY_REST = '*';
/** Longer than the name or ARN of any model. */
const MAX_COMPARED = 512;

interface ModelPattern {
  /** Slug of the virtual key; undefined for all of them. */
  readonly slug: string | undefined;
  /** In lower case: no provider has two models whose names differ in case alone. */
  readonly name: string;
}

/** A model that a pattern without a star names. */
export interface ExactModel {
  /** Slug of the virtual key; undefined for all of them. */
  readonly slug: string | undefined;
  readonly model: string;
}

/** A rule for a pattern, as a regular expression: one star at most, at the end. */
export const MODEL_PATTERN = /^[^*]*\*?$/;

/**
 * Whether a list of patterns allows a model. `rerank-*` stands for all names that begin so, and `@slug/` before a pattern restricts it
 * to the models of one virtual key.
 * @param names of the model, as its provider knows it
 */
export function allowsModel(patterns: readonly string[], virtualKey: string, names: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const { slug, name } = toPattern(pattern);
    if (slug !== undefined && slug !== virtualKey) return false;
    return names.some((candidate) => candidate.length <= MAX_COMPARED && isMatch(name, candidate.toLowerCase()));
  });
}

/** Whether a list of patterns allows models that are not named, such as those in the file of a batch. */
export function allowsEveryModel(patterns: readonly string[]): boolean {
  return patterns.includes(ANY_REST);
}

/** Whether all that a pattern allows is allowed by the list as well. */
export function coversPattern(patterns: readonly string[], pattern: string): boolean {
  const narrow = toPattern(pattern);
  return patterns.map(toPattern).some(({ slug, name }) => {
    // The star of the narrower pattern is compared as a character: another star stands for it, nothing else does.
    return (slug === undefined || slug === narrow.slug) && isMatch(name, narrow.name);
  });
}

/** The models that a list of patterns names in full, spelled as they stand there. */
export function exactModels(patterns: readonly string[]): readonly ExactModel[] {
  return patterns.flatMap((pattern) => {
    const [, slug, model = ''] = PATTERN.exec(pattern) ?? [];
    return model === '' || model.endsWith(ANY_REST) ? [] : [{ slug, model }];
  });
}

function isMatch(pattern: string, name: string): boolean {
  return pattern.endsWith(ANY_REST) ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function toPattern(pattern: string): ModelPattern {
  const [, slug, name = ''] = PATTERN.exec(pattern) ?? [];
  return { slug, name: name.toLowerCase() };
}
