/** The whole line of the mark. Within a model's text, a quote or an escaped line break follows instead. */
export const DONE_MARK = /data: *\[DONE\] *(?:[\r\n]|$)/;
