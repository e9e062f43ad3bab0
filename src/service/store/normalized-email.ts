/** What accounts are distinguished by: an email in one case and one composition. */
export const normalizeEmail = (email: string): string => email.normalize("NFC").toLowerCase();
