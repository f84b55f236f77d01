import type { JsonField } from '../../common/json/fields.js';

/** The names of the fields around the current one, by their depth. */
export class FieldPath {
  readonly #names: string[] = [];

  enter({ name, depth }: Pick<JsonField, 'name' | 'depth'>): void {
    this.#names.length = depth;
    this.#names[depth] = name;
  }

  at(depth: number): string | undefined {
    return this.#names[depth];
  }
}
