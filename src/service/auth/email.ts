/** Maximum length of an email address, in characters (RFC 5321, 4.5.3.1.3, without angle brackets). */
const maxEmailLength = 254;

/** Whether the text looks like an email address. RFC 5321 allows more forms, which are not used in practice. */
export const isEmail = (text: string): boolean =>
  text.length <= maxEmailLength && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text);
