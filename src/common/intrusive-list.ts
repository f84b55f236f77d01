interface Link<Item> {
  readonly item: Item;
  before: Link<Item> | undefined;
  after: Link<Item> | undefined;
}

/**
 * Things that come and go with every request, or connection. In a list of links and not in a Set: a Set gets a new table every few
 * entries, and each table points to the one that came after it. One that is dead but among V8's old objects would hold, through
 * them, every entry since (docs/decisions/0018-garbage-of-requests.md).
 */
export class IntrusiveList<Item> implements Iterable<Item> {
  private first: Link<Item> | undefined;

  /** Returns what takes it out again. */
  add(item: Item): () => void {
    const link: Link<Item> = { item, before: undefined, after: this.first };
    if (this.first !== undefined) this.first.before = link;
    this.first = link;
    return () => this.remove(link);
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.first; link !== undefined; link = link.after) yield link.item;
  }

  private remove(link: Link<Item>): void {
    const { before, after } = link;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after !== undefined) after.before = before;
    link.before = undefined;
    link.after = undefined;
  }
}
