/** The line itself. In a text of a model, a quote or an escaped line break follows the mark. */
export const DONE_MARK = /data: *\[DONE\] *(?:[\r\n]|$)/;
