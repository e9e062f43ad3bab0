/** The form in which email addresses are compared: lower case, NFC. */
export const normalizeEmail = (email: string): string => email.normalize("NFC").toLowerCase();
