import { isUuid } from "../../identifiers/uuid.js";

/** An id as a parameter; null, which nothing equals, for a text that PostgreSQL would not take for a UUID. */
export const uuidParameter = (id: string | null): string | null => (isUuid(id) ? id : null);
