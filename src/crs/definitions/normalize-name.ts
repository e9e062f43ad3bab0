/** Keeps letters, digits and `+` only, so that spelling does not matter; CH1903 and CH1903+ differ. */
export const normalizeName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9+]/g, "");
