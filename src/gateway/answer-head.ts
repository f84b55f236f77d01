/** The part of a response that a call may read and change before the response begins. */
export interface AnswerHead {
  setHeader(name: string, value: string | number): unknown;
  getHeaderNames(): string[];
  removeHeader(name: string): unknown;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
}

/** For calls of the gateway itself, which answer no client. */
export const NO_ANSWER_HEAD: AnswerHead = {
  setHeader: () => undefined,
  getHeaderNames: () => [],
  removeHeader: () => undefined,
  headersSent: false,
  destroyed: false,
};
