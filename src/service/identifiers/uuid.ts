const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** Whether the value is a UUID as text, of any version and case (RFC 9562, 4). */
export const isUuid = (value: unknown): value is string => typeof value === "string" && uuid.test(value);
