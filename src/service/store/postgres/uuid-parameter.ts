import { isUuid } from "../../identifiers/uuid.js";

/** An id as a query parameter; null, which matches nothing, if it is not a UUID. */
export const uuidParameter = (id: string | null): string | null => (isUuid(id) ? id : null);
