/** Characters that any header takes, without blanks: of ids, tokens and keys. RFC 9110, section 5.5 (VCHAR). */
export const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
