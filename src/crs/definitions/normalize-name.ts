/** Letters and digits only, so that spelling does not matter; but CH1903 and CH1903+ are two. */
export const normalizeName = (name: string): string => name.toLowerCase().replace(/[^a-z0-9+]/g, "");
