/** A line of an event, and no text that a model writes about such a line. */
export const DONE_MARK = /data: *\[DONE\] *(?:[\r\n]|$)/;
