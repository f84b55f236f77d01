/** Memoizes a value per object and key, for as long as the object is in memory. */
export class WeakMemo<Source extends object, Key, Value> {
  readonly #made = new WeakMap<Source, Map<Key, Value>>();

  of(source: Source, key: Key, make: () => Value): Value {
    const made = this.#made.get(source) ?? this.#begin(source);
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make();
    made.set(key, value);
    return value;
  }

  #begin(source: Source): Map<Key, Value> {
    const made = new Map<Key, Value>();
    this.#made.set(source, made);
    return made;
  }
}
