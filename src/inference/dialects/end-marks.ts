/** Matches the mark to the end of its line. In a model's text, a quote or an escaped line break follows instead. */
export const DONE_MARK = /data: *\[DONE\] *(?:[\r\n]|$)/;
