/** An answer that is JSON already. */
export class JsonText {
  constructor(readonly text: string) {}
}
