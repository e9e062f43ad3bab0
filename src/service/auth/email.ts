/** Longest email, in characters (RFC 5321, 4.5.3.1.3, without its angle brackets). */
const maxEmailLength = 254;

/** Whether it looks like an email. RFC 5321 allows more; no one types the rest of it. */
export const isEmail = (text: string): boolean =>
  text.length <= maxEmailLength && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text);
