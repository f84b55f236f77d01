/** What steps on the way may do with an answer that has not begun. */
export interface AnswerHead {
  setHeader(name: string, value: string | number): unknown;
  getHeaderNames(): string[];
  removeHeader(name: string): unknown;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
}

/** The head of the answer to a call that no one waits for. */
export const UNHEARD: AnswerHead = {
  setHeader: () => undefined,
  getHeaderNames: () => [],
  removeHeader: () => undefined,
  headersSent: false,
  destroyed: false,
};
