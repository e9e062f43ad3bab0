const canonical = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An id as a parameter; null, which nothing equals, for a text that PostgreSQL would not take for a UUID. */
export const uuid = (id: string | null): string | null => (id !== null && canonical.test(id) ? id : null);
